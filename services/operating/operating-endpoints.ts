import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Metrics } from './metrics.ts';
import type { Readiness, ReadinessCheck } from './readiness.ts';

/** Returns whether the sender of a request may read metrics. `starting`: the tokens are not loaded yet. */
export type MetricsAccess = (
  authorization: string | undefined,
) => 'allowed' | 'anonymous' | 'forbidden' | 'starting';

export type OperatingEndpointsOptions = {
  readonly readiness: ReadinessCheck;
  /** undefined: this process has no `/metrics`. */
  readonly metrics: Metrics | undefined;
  readonly access: MetricsAccess;
};

/** Answers `/health/live`, `/health/ready` and `/metrics`, in every phase of a process. Returns false for another path. */
export type OperatingEndpoints = (request: IncomingMessage, response: ServerResponse) => boolean;

type Answer = {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Creates the endpoints. Metrics are collected for each request. Health needs no token. */
export function createOperatingEndpoints(options: OperatingEndpointsOptions): OperatingEndpoints {
  const answers: Readonly<Record<string, (request: IncomingMessage) => Promise<Answer>>> = {
    '/health/live': async () => json(200, { status: 'live' }),
    '/health/ready': async () => presentReadiness(await options.readiness.check()),
    ...(options.metrics === undefined ? {} : { '/metrics': metricsAnswer(options.metrics, options.access) }),
  };
  return (request, response) => {
    const { url = '' } = request;
    // This is cheap for all other requests, because no path of the API begins like these.
    if (!url.startsWith('/health/') && !url.startsWith('/metrics')) return false;
    const answer = answers[url.split('?', 1)[0] ?? ''];
    if (answer === undefined) return false;
    respond(request, response, answer);
    return true;
  };
}

function respond(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (request: IncomingMessage) => Promise<Answer>,
): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    send(response, { ...json(405, { status: 'method not allowed' }), headers: { allow: 'GET, HEAD' } });
    return;
  }
  answer(request)
    .catch(() => json(500, { status: 'failed' }))
    .then((answered) => send(response, answered))
    .catch(() => response.destroy());
}

const REFUSED = { status: 'refused', message: 'Metrics need a full-access token' };

function metricsAnswer(metrics: Metrics, access: MetricsAccess) {
  return async ({ headers }: IncomingMessage): Promise<Answer> => {
    switch (access(headers.authorization)) {
      case 'allowed':
        return { status: 200, type: metrics.contentType, body: await metrics.text() };
      case 'anonymous':
        return { ...json(401, REFUSED), headers: { 'www-authenticate': 'Bearer' } };
      case 'forbidden':
        return json(403, REFUSED);
      case 'starting':
        return presentReadiness({
          status: 'unavailable',
          reason: 'starting',
          message: 'Tokens are not loaded',
        });
    }
  };
}

function presentReadiness(readiness: Readiness): Answer {
  if (readiness.status === 'ready') return json(200, readiness);
  return { ...json(503, readiness), headers: { 'retry-after': '1' } };
}

function json(status: number, body: object): Answer {
  return { status, type: 'application/json; charset=utf-8', body: JSON.stringify(body) };
}

/** Sends an answer. Node omits the body of an answer to HEAD. */
function send(response: ServerResponse, { status, type, body, headers }: Answer): void {
  response
    .writeHead(status, {
      ...headers,
      'content-type': type,
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    .end(body);
}
