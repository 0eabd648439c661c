import { expect, it, onTestFinished } from 'vitest';
import { nextWorker, replaced } from '../support/replaced-workers.ts';
import { startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

const PATIENT = { timeout: 60_000 };

type Written = { readonly tag: string; readonly position: number };

/** During a hand-over, both workers have the file of purges open. */
it.each(['steps down', 'is paused', 'is killed'])(
  'purges every write while one worker hands over to the next, and the first one %s',
  { ...takesMinutes('purges over a hand-over'), timeout: 240_000 },
  async (what) => {
    const receiver = await startReceiver();
    const server = await startServer({ arguments: ['--purge', `webhook=${receiver.url}`] });
    onTestFinished(async () => {
      await server.dispose();
      await receiver.close();
    });
    const written: Written[] = [];
    const write = async (n: number): Promise<void> => {
      const headers = { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() };
      const body = JSON.stringify({ data: { key: `k${n}` } });
      for (;;) {
        const sent = fetch(`${server.url}/api/tags`, { method: 'POST', headers, body });
        const answer = await sent.catch(() => undefined);
        if (answer?.status !== 201) continue;
        const { data } = (await answer.json()) as { data: { documentId: string } };
        const position = Number(answer.headers.get('varve-position'));
        written.push({ tag: `tags:${data.documentId}`, position });
        return;
      }
    };
    await receiver.until(1);
    const [all = ''] = (receiver.received[0]?.json['tags'] ?? []) as string[];
    const first = server.worker() ?? 0;
    let isOver = false;
    const handOver = async () => {
      process.kill(server.supervisor, 'SIGHUP');
      if (what !== 'steps down') {
        await nextWorker(server);
        process.kill(first, what === 'is paused' ? 'SIGSTOP' : 'SIGKILL');
      }
      await replaced(server, first);
    };
    const handed = handOver().finally(() => {
      isOver = true;
    });
    for (let n = 0; !isOver || n < 20; n++) await write(n);
    await handed;
    await write(-1);
    /** Returns the writes that no purge covers. A purge names the position of its last change. */
    const missing = () =>
      written.filter(
        ({ tag, position }) =>
          !receiver.received.some(({ json }) => {
            const tags = json['tags'] as string[];
            return Number(json['position']) >= position && (tags.includes(tag) || tags.includes(all));
          }),
      );
    await expect.poll(missing, PATIENT).toEqual([]);
  },
);
