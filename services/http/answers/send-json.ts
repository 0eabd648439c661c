import type { FastifyReply } from 'fastify';
import { JSON_HEADERS } from './responses.ts';

/** Sends JSON that no cache may keep. */
export function sendJson(reply: FastifyReply, status: number, body: unknown): void {
  reply.code(status).headers(JSON_HEADERS).header('cache-control', 'no-store').send(JSON.stringify(body));
}
