import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Attribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };
export type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
};

/** Starts a collector that receives traces by OTLP over HTTP, in JSON. */
export async function startCollector(): Promise<{
  readonly url: string;
  readonly spans: readonly Span[];
  service(): unknown;
  close(): void;
}> {
  const spans: Span[] = [];
  let service: unknown;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString());
    for (const { resource, scopeSpans } of resourceSpans) {
      const named = resource.attributes.find(({ key }: Attribute) => key === 'service.name');
      service = named?.value.stringValue;
      for (const scope of scopeSpans) spans.push(...scope.spans);
    }
    response.writeHead(request.url === '/v1/traces' ? 200 : 404, { 'content-type': 'application/json' });
    response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, spans, service: () => service, close: () => void server.close() };
}
