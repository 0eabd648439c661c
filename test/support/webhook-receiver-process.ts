import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** A program that receives webhooks. It writes the id of each to a file before it answers. Arguments: port, file. */
const [port, file] = process.argv.slice(2);
if (file === undefined) throw new Error('usage: webhook-receiver-process.ts PORT FILE');

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { entry } = JSON.parse(Buffer.concat(chunks).toString()) as {
      entry?: { key?: unknown; documentId?: string };
    };
    const { 'webhook-id': id } = request.headers;
    appendFileSync(file, `${JSON.stringify({ id, documentId: entry?.documentId, key: entry?.key })}\n`);
    response.end();
  });
}).listen(Number(port), '127.0.0.1', () => console.log('listening'));
