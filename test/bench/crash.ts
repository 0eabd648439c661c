import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Command } from 'commander';
import { CONFORMANCE_SCHEMA, startServer } from '../support/server.ts';

/** Measures how long a server is away after kill -9 of its worker, and how long a start takes after kill -9 of its supervisor. */
const { data, contentTypes, path, rounds } = new Command('crash')
  .requiredOption('--data <dir>', 'data directory')
  .option('--content-types <dir>', 'its content types', CONFORMANCE_SCHEMA)
  .option('--path <path>', 'what is asked for', '/api/restaurants')
  .option('--rounds <n>', 'kills of each process', '10')
  .parse()
  .opts<{ data: string; contentTypes: string; path: string; rounds: string }>();

const starts: number[] = [];
const answers: number[] = [];
const startsAfterKill: number[] = [];

for (let round = 0; round < Number(rounds); round++) {
  // Every round starts a new server: a supervisor waits longer after each crash of its worker.
  const [server, started] = await timed(() => startServer({ data, contentTypes }));
  starts.push(started);
  process.kill(server.worker() ?? server.supervisor, 'SIGKILL');
  const [, waited] = await timed(() => ask(server.url + path));
  answers.push(waited);
  const [next, startedAfterKill] = await timed(async () => {
    process.kill(server.supervisor, 'SIGKILL');
    await server.exited;
    return startServer({ data, contentTypes });
  });
  startsAfterKill.push(startedAfterKill);
  await next.stop();
}

console.log(`start: ${present(starts)}`);
console.log(`kill -9 of the worker, until the answer on a new connection: ${present(answers)}`);
console.log(`kill -9 of the supervisor, until the next start serves: ${present(startsAfterKill)}`);

async function timed<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const begun = performance.now();
  const result = await work();
  return [result, performance.now() - begun];
}

/** Sends a GET on a new connection and requires status 200. */
async function ask(url: string): Promise<void> {
  const [answer] = (await once(request(url, { agent: false }).end(), 'response')) as [IncomingMessage];
  answer.resume();
  if (answer.statusCode !== 200) throw new Error(`${url} was answered ${answer.statusCode}`);
}

function present(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return `median ${median.toFixed(0)} ms, at most ${(sorted.at(-1) ?? 0).toFixed(0)} ms`;
}
