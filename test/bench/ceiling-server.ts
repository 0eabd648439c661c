import { readFileSync } from 'node:fs';
import fastify from 'fastify';

/** A bare fastify that answers every GET with the same Buffer: a file, or 26 KB. Its rate is the most that the HTTP stack allows. */
const [file] = process.argv.slice(2);
const BODY =
  file !== undefined ? readFileSync(file) : Buffer.from(JSON.stringify({ data: 'x'.repeat(26 * 1024 - 11) }));

const server = fastify({ routerOptions: { ignoreTrailingSlash: true } });
server.get('/*', (_request, reply) =>
  reply.header('content-type', 'application/json; charset=utf-8').send(BODY),
);
console.log(await server.listen({ port: 0, host: '127.0.0.1' }));
