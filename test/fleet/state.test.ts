import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Status } from '../../services/operator/status.ts';
import { jsonOf, runVarve } from '../support/run-varve.ts';
import { CONFORMANCE_SCHEMA, type RunningServer, spawnVarve, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Processes that wait for each other. */
const LONG = { ...takesMinutes('the state of a fleet'), timeout: 300_000 };

function stateOf(server: RunningServer): Promise<Status> {
  return jsonOf<Status>(['status', '--json', '--data', server.data]);
}

it('every process shows the fleet, the leader that was killed, and what that means', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const log = ['--event-store', `sqlite:${join(folder, 'events.db')}`];
  const servers = [await startServer({ arguments: log }), await startServer({ arguments: log })] as const;
  onTestFinished(async () => {
    for (const server of servers) await server.dispose();
  });
  const [leader, standby] = servers;
  await vi.waitFor(
    async () => {
      for (const server of servers) {
        const { summary, processes, conditions } = await stateOf(server);
        expect(conditions).toEqual([]);
        expect(summary.text).toMatch(
          /^All is right: 2 processes serve, and the leader is varve serve \d+ on /,
        );
        expect(processes.map(({ pid }) => pid).sort()).toEqual(servers.map((each) => each.supervisor).sort());
        expect(processes.filter(({ epoch }) => epoch !== null)).toMatchObject([
          { pid: leader.supervisor, role: 'serve', address: leader.url, isReady: true, reason: null },
        ]);
      }
    },
    { timeout: 60_000, interval: 500 },
  );
  // Another port has the same, for callers with full access.
  const { data } = (await (await fetch(`${standby.url}/_varve/state`)).json()) as { data: Status };
  expect(data.processes).toHaveLength(2);
  await leader.stop('SIGKILL');
  await vi.waitFor(
    async () => {
      const { summary, conditions, processes } = await stateOf(standby);
      expect(conditions).toMatchObject([{ code: 'process-silent' }]);
      expect(summary.text).toMatch(
        new RegExp(
          `^Varve serve ${leader.supervisor} on .* has ended or is silent, since .*Writes are carried out\\.`,
        ),
      );
      expect(processes[0]).toMatchObject({ pid: standby.supervisor, epoch: expect.any(Number) });
    },
    { timeout: 60_000, interval: 500 },
  );
  const { stdout } = await runVarve(['status', '--data', standby.data]);
  expect(stdout).toMatch(/^PROCESS +ROLE +LEADER +ADDRESS +VERSION +POSITION +LAG +MEMORY +READY$/m);
  expect(stdout).toMatch(new RegExp(`:${leader.supervisor} +serve .* silent for \\d+ s$`, 'm'));
  // Started again on its directory, it takes the place of the one that was killed.
  const successor = await startServer({ arguments: log, data: leader.data });
  onTestFinished(() => successor.dispose());
  for (const server of [standby, successor])
    await vi.waitFor(
      async () => {
        const { summary, processes } = await stateOf(server);
        expect(summary.text).toMatch(/^All is right: 2 processes serve/);
        expect(processes.map(({ pid }) => pid).sort()).toEqual(
          [standby.supervisor, successor.supervisor].sort(),
        );
      },
      { timeout: 60_000, interval: 300 },
    );
  await successor.stop();
  await standby.stop();
  const alone = await runVarve(['status', '--data', standby.data]);
  expect(alone.stdout).toMatch(
    /^No server has this data directory\. Its log has no leader: writes answer 503\./,
  );
}, 300_000);

it('two processes with different access keys name the key, each of them', LONG, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const start = (key: number) => {
    const accessKey = Buffer.alloc(32, key).toString('base64url');
    const log = `sqlite:${join(folder, 'events.db')}`;
    return startServer({ arguments: ['--event-store', log, '--access-key', accessKey] });
  };
  const servers = [await start(1), await start(2)];
  onTestFinished(async () => {
    for (const server of servers) await server.dispose();
  });
  const says = 'has another access key than this process';
  for (const server of servers) {
    await vi.waitFor(async () => expect((await stateOf(server)).summary.text).toContain(says), {
      timeout: 300_000,
      interval: 500,
    });
    expect(server.output()).toContain(says);
  }
});

it('a process that was stopped is not listed any more, whether it was the leader or not', LONG, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const log = ['--event-store', `sqlite:${join(folder, 'events.db')}`];
  const leader = await startServer({ arguments: log });
  const standby = await startServer({ arguments: log });
  const third = await startServer({ arguments: log });
  onTestFinished(async () => {
    for (const server of [leader, standby, third]) await server.dispose();
  });
  const listed = async (server: RunningServer, wanted: readonly RunningServer[]) =>
    vi.waitFor(
      async () => {
        const { summary, processes } = await stateOf(server);
        expect(processes.map(({ pid }) => pid).sort()).toEqual(wanted.map((each) => each.supervisor).sort());
        expect(summary.text).toMatch(/^All is right/);
      },
      { timeout: 60_000, interval: 300 },
    );
  for (const server of [leader, standby, third]) await listed(server, [leader, standby, third]);
  await third.stop();
  const processes = async (server: RunningServer) => (await stateOf(server)).processes.length;
  // A silent process would be listed for ten minutes.
  await vi.waitFor(async () => expect(await processes(leader)).toBe(2), { timeout: 60_000, interval: 100 });
  await leader.stop();
  await listed(standby, [standby]);
});

it('a process that waits for other content types names the attribute that differs', LONG, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const log = ['--event-store', `sqlite:${join(folder, 'events.db')}`];
  const leader = await startServer({ arguments: log });
  onTestFinished(() => leader.dispose());
  const changed = join(folder, 'changed');
  cpSync(CONFORMANCE_SCHEMA, changed, { recursive: true });
  const file = join(changed, 'api/country/content-types/country/schema.json');
  const schema = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(
    file,
    JSON.stringify({ ...schema, attributes: { ...schema.attributes, extra: { type: 'string' } } }),
  );
  const port = ['--port', '0', '--metrics-port', '0'];
  const waiting = spawnVarve([
    ...['serve', '--content-types', changed, '--data', join(folder, 'waiting'), ...port, ...log],
  ]);
  onTestFinished(async () => {
    waiting.child.kill('SIGKILL');
    await waiting.exited;
  });
  const DIFFERS = /api::country\.country: attribute extra is \{"type":"string"\} here and missing in force/;
  await vi.waitFor(
    async () => {
      const found = (await stateOf(leader)).conditions.find(({ code }) => code === 'types-differ');
      expect(found?.message).toMatch(DIFFERS);
      const [, health] = /Metrics and health are at (http:\S+)/.exec(waiting.output()) ?? [];
      const ready = await fetch(`${health}/health/ready`);
      expect(ready.status).toBe(503);
      expect(await ready.json()).toMatchObject({
        reason: 'types-differ',
        message: expect.stringMatching(DIFFERS),
      });
    },
    { timeout: 60_000, interval: 500 },
  );
});
