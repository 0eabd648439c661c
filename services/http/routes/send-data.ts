import type { FastifyReply } from 'fastify';
import { sendJson } from '../answers/send-json.ts';
import { POSITION_HEADER } from '../requests/await-position.ts';

/** `position`: the position of the write that is answered. */
type Details = { readonly status?: number; readonly meta?: object; readonly position?: bigint | undefined };

/** Sends `data` and `meta` as JSON that no cache may keep. */
export function sendData(
  reply: FastifyReply,
  data: unknown,
  { status = 200, meta = {}, position }: Details = {},
): void {
  if (position !== undefined) reply.header(POSITION_HEADER, String(position));
  sendJson(reply, status, { data, meta });
}
