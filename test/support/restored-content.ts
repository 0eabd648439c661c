import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Member } from './fleet.ts';

/** Entries around an older copy of the log: `kept` is in the copy; `freed` is in the copy and was deleted later; `lost` was created later. */

const jsonHeaders = { 'content-type': 'application/json' };
export const post = (url: string, key: string) =>
  fetch(`${url}/api/tags`, {
    method: 'POST',
    headers: jsonHeaders,
    body: JSON.stringify({ data: { key } }),
    signal: AbortSignal.timeout(20_000),
  });

/** A 202 is stored too. The callers wait until lists show the entry. */
export const created = async (url: string, key: string): Promise<string> => {
  const answer = await post(url, key);
  expect([201, 202], key).toContain(answer.status);
  return ((await answer.json()) as { data: { documentId: string } }).data.documentId;
};

export const isReady = async (url: string): Promise<boolean> =>
  fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(5_000) }).then(
    ({ ok }) => ok,
    () => false,
  );

export const listOf = async (url: string) => {
  const answer = await fetch(`${url}/api/tags?sort=id&pagination[pageSize]=100&populate=*`);
  if (!answer.ok) throw new Error(`${answer.status}`);
  const { data } = (await answer.json()) as { data: { key: string }[] };
  return { text: JSON.stringify(data), keys: data.map(({ key }) => key) };
};

/** Reads a process while it says that it is ready, before and after the read. Returns the wrong lists. */
export const watchReads = (member: Member) => {
  const wrong: string[] = [];
  let rounds = 0;
  let ended = false;
  const look = async () => {
    const { url } = member.server();
    if (!(await isReady(url))) return;
    const { keys } = await listOf(url);
    if (!(await isReady(url)) || url !== member.server().url) return;
    rounds += 1;
    const isWrong = keys.includes('lost') || !keys.includes('freed') || new Set(keys).size !== keys.length;
    if (isWrong) wrong.push(keys.join(' '));
  };
  const watching = (async () => {
    while (!ended) {
      if (member.isUp()) await look().catch(() => undefined);
      await delay(10);
    }
  })();
  return async () => {
    ended = true;
    await watching;
    return { wrong, rounds };
  };
};
