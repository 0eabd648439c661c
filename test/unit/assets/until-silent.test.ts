import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { untilSilent } from '../../../shared/asset-store/s3/s3-silent-body.ts';

const SILENCE_MS = 50;
const silent = () => new Error('silent');
/** A piece with the size of a stream's read-ahead buffer. */
const PIECE = Buffer.alloc(64 * 1024);
const PIECES = 8;

it('passes a body on, also in pieces that come within the limit', async () => {
  const pieces = Array.from({ length: 6 }, (_, at) => Buffer.from(`${at}`));
  async function* slowly() {
    for (const piece of pieces) {
      await delay(SILENCE_MS / 5);
      yield piece;
    }
  }
  const body = untilSilent(Readable.from(slowly()), 100 * SILENCE_MS, silent);
  expect((await buffer(body)).toString()).toBe('012345');
});

it('fails if the rest does not arrive, and stops reading the body', async () => {
  const body = new PassThrough();
  body.write('half');
  await expect(buffer(untilSilent(body, SILENCE_MS, silent))).rejects.toThrow('silent');
  expect(body.destroyed).toBe(true);
});

it('gives a reader any amount of time, before it begins and in the middle', async () => {
  const source = new PassThrough();
  const content = untilSilent(source, SILENCE_MS, silent);
  for (let piece = 0; piece < PIECES; piece++) source.write(PIECE);
  source.end();
  let read = 0;
  await delay(4 * SILENCE_MS);
  for await (const chunk of content) {
    if (read === 0) await delay(4 * SILENCE_MS);
    read += chunk.length;
  }
  expect(read).toBe(PIECES * PIECE.length);
});

it('fails if the body fails, and ends the body when its reader stops', async () => {
  const broken = new PassThrough();
  const content = untilSilent(broken, SILENCE_MS, silent);
  broken.destroy(new Error('reset'));
  await expect(buffer(content)).rejects.toThrow('reset');
  const left = new PassThrough();
  untilSilent(left, SILENCE_MS, silent).destroy();
  await expect.poll(() => left.destroyed).toBe(true);
});
