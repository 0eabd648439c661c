import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TestCertificate } from './test-certificate.ts';

/** A request to Elasticsearch. */
export type ProxiedRequest = {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly authorization: string | undefined;
};

/** Answer or end of the connection that the requester gets instead of Elasticsearch's answer. */
export type InterceptedAnswer =
  | { readonly status: number; readonly json: unknown }
  /** The answer of another program than Elasticsearch, such as a load balancer. */
  | { readonly status: number; readonly text: string }
  /** The connection ends without an answer. `isSent`: Elasticsearch gets the request first, and carries it out. */
  | { readonly isSent: boolean };

type Decision = InterceptedAnswer | undefined;

/** A proxy to Elasticsearch that can delay requests and answer them itself. */
export type ElasticsearchProxy = {
  readonly url: string;
  /** Sets the function that decides about later requests. undefined: Elasticsearch gets the request. */
  intercept(decide: (request: ProxiedRequest) => Decision | Promise<Decision>): void;
  /** Closes all connections and refuses new ones, until `restore`. */
  lose(): void;
  restore(): void;
  close(): void;
};

/** `certificate`: the proxy speaks TLS on localhost. */
export async function startElasticsearchProxy(
  target: string,
  certificate?: TestCertificate,
): Promise<ElasticsearchProxy> {
  let decide: Parameters<ElasticsearchProxy['intercept']>[0] = () => undefined;
  const pass = (
    { method, headers, url }: IncomingMessage,
    body: Buffer,
    answer: ServerResponse,
    isLost = false,
  ) => {
    const passed = request(`${target}${url}`, { method: method ?? 'GET', headers }, (from) => {
      if (isLost) return void from.resume().on('end', () => answer.destroy());
      answer.writeHead(from.statusCode ?? 502, from.headers);
      from.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    passed.end(body);
  };
  const handle = (incoming: IncomingMessage, answer: ServerResponse): void => {
    // The client may end the connection before it has sent the whole request.
    answerTo(incoming, answer).catch(() => answer.destroy());
  };
  const answerTo = async (incoming: IncomingMessage, answer: ServerResponse) => {
    const body = Buffer.concat(await incoming.toArray());
    const { method = 'GET', url: path = '/', headers: given } = incoming;
    const { authorization } = given;
    const decided = await decide({ method, path, body: body.toString(), authorization });
    if (decided === undefined) return pass(incoming, body, answer);
    if ('isSent' in decided)
      return decided.isSent ? pass(incoming, body, answer, true) : void answer.destroy();
    if ('text' in decided)
      return void answer.writeHead(decided.status, { 'content-type': 'text/html' }).end(decided.text);
    // The official client refuses answers without `x-elastic-product`.
    const headers = { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' };
    answer.writeHead(decided.status, headers).end(JSON.stringify(decided.json));
  };
  const listening =
    certificate === undefined
      ? createServer(handle)
      : createTlsServer({ key: certificate.key, cert: certificate.certificate }, handle);
  let isLost = false;
  listening.on('connection', (socket) => isLost && socket.destroy());
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const { port } = listening.address() as AddressInfo;
  return {
    url: certificate === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
    intercept(next) {
      decide = next;
    },
    lose() {
      isLost = true;
      listening.closeAllConnections();
    },
    restore() {
      isLost = false;
    },
    close() {
      listening.closeAllConnections();
      listening.close();
    },
  };
}

/** Joins the proxies of several nodes: whatever happens to it, happens to each of them. */
export function joinProxies(proxies: readonly ElasticsearchProxy[]): ElasticsearchProxy {
  return {
    url: proxies.map(({ url }) => url).join(),
    intercept(decide) {
      for (const each of proxies) each.intercept(decide);
    },
    lose() {
      for (const each of proxies) each.lose();
    },
    restore() {
      for (const each of proxies) each.restore();
    },
    close() {
      for (const each of proxies) each.close();
    },
  };
}
