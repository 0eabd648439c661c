import { Agent, type IncomingHttpHeaders, type RequestListener, request as send } from 'node:http';
import { pipeline } from 'node:stream';
import { defined } from '../../../shared/defined.ts';
import { endToEndHeaders } from '../answers/connection-headers.ts';
import type { CallerAddress } from './caller-address.ts';

/** Passes requests on to the server at this address, with their caller's address. Answers 502 if that server does not answer. */
export function proxyRequests(address: string, callers?: CallerAddress): RequestListener {
  const agent = new Agent({ keepAlive: true });
  return (request, response) => {
    const { method, url: path } = request;
    const headers = { ...requestHeaders(request.headers), ...callers?.headersOf(request) };
    const sent = send(address, { agent, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, endToEndHeaders(answer.headers));
      pipeline(answer, response, () => {});
    });
    sent.once('error', () => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502, { 'content-length': 0 }).end();
    });
    pipeline(request, sent, () => {});
  };
}

/** Keeps the headers that say where the body ends. Node omits them for GET and DELETE, and their body would be read as the next request. */
function requestHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { 'transfer-encoding': coding, 'content-length': length } = headers;
  return {
    ...endToEndHeaders(headers),
    ...defined({ 'transfer-encoding': coding, 'content-length': length }),
  };
}
