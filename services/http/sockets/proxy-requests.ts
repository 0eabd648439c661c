import { Agent, type IncomingHttpHeaders, type RequestListener, request as send } from 'node:http';
import { pipeline } from 'node:stream';

/** Headers of one connection, not of the request or the answer. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'te', 'trailer'];

/** Passes requests on to the server at this address. Answers 502 if that does not answer. */
export function proxyRequests(address: string): RequestListener {
  const agent = new Agent({ keepAlive: true });
  return (request, response) => {
    const { method, headers, url: path } = request;
    const sent = send(address, { agent, method, path, headers: endToEnd(headers) }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
      pipeline(answer, response, () => {});
    });
    sent.once('error', () => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502, { 'content-length': 0 }).end();
    });
    pipeline(request, sent, () => {});
  };
}

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name)));
}
