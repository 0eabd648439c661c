import { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { errorBodyFor } from './algolia-error.ts';
import { presentError } from './error-envelope.ts';
import { JSON_HEADERS } from './responses.ts';

/** A request whose answer is being made or was sent. */
type Handled = { readonly request: IncomingMessage; readonly response: ServerResponse };

/** `status`: the answer's status; null if the request is still being carried out. */
export type FailedRequest = {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly status: number | null;
};

const handled = new AsyncLocalStorage<Handled>();

/** Gets each contained error. Tests count them as failures. */
const contained = channel('varve:contained-failure');

/** Passes requests on to `handle`. A rejection in any later work of a request is attributed to it. */
export function attributeFailures(handle: RequestListener): RequestListener {
  return (request, response) => handled.run({ request, response }, handle, request, response);
}

/**
 * Contains rejections that belong to a request and that no code handles: they are reported, and a read is answered with the error, which is
 * a 500 unless it is a refusal. A write continues, because it may have been stored. Rejections of other work still end the process, and so do exceptions of any work ([ADR
 * 32](../../../docs/adr/0032-a-request-ends-no-process.md)). Call it once in a process.
 */
export function containFailures(report: (error: unknown, failed: FailedRequest) => void): void {
  process.on('unhandledRejection', (error) => {
    const found = handled.getStore();
    if (found === undefined) throw error;
    contained.publish(error);
    report(error, endRequest(found, error));
  });
}

function endRequest({ request: { method, url }, response }: Handled, error: unknown): FailedRequest {
  if (!response.headersSent && (method === 'GET' || method === 'HEAD')) answerFailure(response, error);
  return { method, url, status: response.headersSent ? response.statusCode : null };
}

function answerFailure(response: ServerResponse, error: unknown): void {
  const envelope = presentError(error);
  const body = errorBodyFor(response.req.url, envelope);
  const length = { 'content-length': Buffer.byteLength(body) };
  response
    .writeHead(envelope.error.status, { ...JSON_HEADERS, ...length, 'cache-control': 'no-store' })
    .end(body);
}
