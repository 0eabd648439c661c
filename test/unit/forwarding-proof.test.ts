import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { claimLease } from '../../services/fleet/claim-lease.ts';
import {
  ANSWER_HEADER,
  COMMAND_HEADER,
  type CommandVerdict,
  createCommandVerifier,
  digestOfBody,
  signCommand,
} from '../../services/fleet/command-proof.ts';
import { readLease } from '../../services/fleet/lease-view.ts';
import { type Membership, openMembership } from '../../services/fleet/membership.ts';
import { createPresence } from '../../services/fleet/presence.ts';
import { probeLeader } from '../../services/fleet/probe-leader.ts';
import { answerQuestion, askLeader, type ProvenLeader } from '../../services/fleet/question.ts';
import { createSender, type SentWrite } from '../../services/http/forwarding/send-on.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import type { Leader } from '../../shared/fleet/lease.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const SPACE = 'varve';
const BODY = '{"data":{}}';
const HEAD = { method: 'POST', url: '/api/tags?a=1', headers: { authorization: 'Bearer x' } };
const TEXT = { kind: 'text', digest: digestOfBody(BODY) } as const;

afterEach(() => void vi.useRealTimers());

function newLog(): EventStore {
  const folder = mkdtempSync(join(tmpdir(), 'varve-proof-'));
  const log = openSqliteEventStore(join(folder, 'log.db'), { space: 'varve' });
  onTestFinished(async () => {
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return log;
}

const key = randomBytes(32);
const member = (log: EventStore) => openMembership({ log, space: SPACE, owner: randomUUID(), key });

async function lead(
  log: EventStore,
  membership: Membership,
  address = 'http://127.0.0.1:9',
): Promise<Leader> {
  const now = () => new Date().toISOString();
  await claimLease(
    { log, space: SPACE, owner: membership.owner, address, now, membership },
    await readLease(log, SPACE),
  );
  const { leader } = await readLease(log, SPACE);
  if (leader?.owner !== membership.owner) throw new Error('it does not lead');
  return leader;
}

async function meet(
  asking: Membership,
  leader: Leader,
  answering: Membership,
): Promise<ProvenLeader | undefined> {
  const question = await askLeader(asking, leader);
  return question.verify(await answerQuestion(answering, question.header, 'body'), 'body');
}

/** Creates a leader, a standby, and the leader's verifier of forwarded requests. */
async function newPair() {
  const log = newLog();
  const [leading, following] = [member(log), member(log)];
  const leader = await lead(log, leading);
  const met = await meet(following, leader, leading);
  if (met === undefined) throw new Error('they do not know each other');
  const command = { id: 'command', claim: leader.claim, owner: following.owner };
  return { log, leading, following, leader, met, verify: createCommandVerifier(leading), command };
}

const withProof = (header: string, head = HEAD) => ({
  ...head,
  headers: { ...head.headers, [COMMAND_HEADER]: header },
});
const kindOf = ({ kind }: CommandVerdict) => kind;

describe('a question to a leader', () => {
  test('is answered only by the leader of this log: a copy has the key and the claim, but not the nonce', async () => {
    const log = newLog();
    const leading = member(log);
    const leader = await lead(log, leading);
    expect(await meet(member(log), leader, leading)).toBeDefined();
    // This process uses a copy of the log, which has the same claim.
    const elsewhere = newLog();
    expect(await meet(member(elsewhere), leader, leading)).toBeUndefined();
    const claimed = member(elsewhere);
    claimed.claiming(leader.claim);
    expect(await meet(member(log), leader, claimed)).toBeUndefined();
  });

  test('takes one nonce per process and term, for any number of questions', async () => {
    const { log, following, leader, leading } = await newPair();
    for (let n = 0; n < 20; n++) await meet(following, leader, leading);
    const revisions = [];
    for await (const { revision } of log.readStream(`${SPACE}.identity`)) revisions.push(revision);
    expect(revisions).toEqual([0n]);
    const next = await lead(log, leading);
    expect(await meet(following, next, leading)).toBeDefined();
    // A process that has not seen the new claim still finds the leader alive.
    expect(await meet(following, leader, leading)).toBeDefined();
    expect(revisions).toHaveLength(1);
  });

  test('has no nonce if the process cannot write: the leader writes one, once', async () => {
    const log = newLog();
    const leading = member(log);
    const leader = await lead(log, leading);
    const readOnly: EventStore = { ...log, append: () => Promise.reject(new Error('access denied')) };
    const reading = member(readOnly);
    expect(await meet(reading, leader, leading)).toBeDefined();
    expect(await meet(reading, leader, leading)).toBeDefined();
    const stored = [];
    for await (const { type } of log.readStream(`${SPACE}.identity`)) stored.push(type);
    expect(stored).toEqual(['process-started']);
    // This process reads another log than the leader.
    const copy = newLog();
    const strange = member({ ...copy, append: () => Promise.reject(new Error('access denied')) });
    expect(await meet(strange, leader, leading)).toBeUndefined();
  });

  test('is not answered to other callers, and an old answer is not valid for a new question', async () => {
    const { following, leader, leading, log } = await newPair();
    const stranger = openMembership({ log, space: SPACE, owner: randomUUID(), key: randomBytes(32) });
    const asked = await askLeader(stranger, leader);
    expect(await answerQuestion(leading, asked.header, '')).toBeUndefined();
    const [first, second] = [await askLeader(following, leader), await askLeader(following, leader)];
    const answer = await answerQuestion(leading, first.header, '');
    expect(await first.verify(answer, '')).toBeDefined();
    expect(await second.verify(answer, '')).toBeUndefined();
    expect(await first.verify(answer, 'another body')).toBeUndefined();
  });
});

describe('a proof', () => {
  test('is valid once, and only for its request', async () => {
    const { met, command, verify } = await newPair();
    const { header } = signCommand(met, command, HEAD, TEXT);
    const others = [
      { ...HEAD, method: 'PUT' },
      { ...HEAD, url: '/api/tags' },
      { ...HEAD, headers: { authorization: 'Bearer y' } },
    ];
    for (const head of others) expect(kindOf(verify(withProof(header, head)))).toBe('refused');
    const verdict = verify(withProof(header));
    expect(verdict).toMatchObject({ kind: 'forwarded', command: { id: 'command', body: TEXT } });
    expect(kindOf(verify(withProof(header)))).toBe('refused');
    expect(kindOf(verify(HEAD))).toBe('none');
  });

  test('is not valid for other processes and other terms', async () => {
    const { met, command, leading, log, following, verify } = await newPair();
    const header = () => signCommand(met, command, HEAD, TEXT).header;
    expect(kindOf(createCommandVerifier(following)(withProof(header())))).toBe('refused');
    expect(kindOf(createCommandVerifier(member(newLog()))(withProof(header())))).toBe('refused');
    await lead(log, leading);
    // The request was signed by a process of this log, so it gets an answer that makes it look for the leader.
    expect(verify(withProof(header()))).toMatchObject({ kind: 'refused', command: { id: 'command' } });
  });

  test('expires by the clock of the leader only', async () => {
    const { met, command, verify } = await newPair();
    const { header } = signCommand(met, command, HEAD, TEXT);
    const early = signCommand({ ...met, offset: met.offset + 60_000 }, command, HEAD, TEXT);
    const late = signCommand({ ...met, offset: met.offset - 16_000 }, command, HEAD, TEXT);
    expect(kindOf(verify(withProof(early.header)))).toBe('refused');
    expect(kindOf(verify(withProof(late.header)))).toBe('refused');
    const before = performance.now();
    vi.spyOn(performance, 'now').mockReturnValue(before + 15_100);
    expect(kindOf(verify(withProof(header)))).toBe('refused');
    vi.spyOn(performance, 'now').mockReturnValue(before + 14_000);
    expect(kindOf(verify(withProof(header)))).toBe('forwarded');
    vi.restoreAllMocks();
  });

  test('covers the status, the position and the body of the answer', async () => {
    const { met, command, verify } = await newPair();
    const signed = signCommand(met, command, HEAD, TEXT);
    const verdict = verify(withProof(signed.header));
    if (verdict.kind !== 'forwarded') throw new Error('it is refused');
    const answer = { status: 201, position: '7', body: 'made' };
    const header = verdict.command.sign(answer);
    expect(signed.verify(answer, header)).toBeTypeOf('number');
    for (const other of [{ status: 200 }, { position: '8' }, { body: 'mad' }])
      expect(signed.verify({ ...answer, ...other }, header)).toBeUndefined();
    expect(signed.verify(answer, undefined)).toBeUndefined();
    expect(signCommand(met, command, HEAD, TEXT).verify(answer, header)).toBeUndefined();
  });

  test('covers a stream by its length and a trailer', async () => {
    const { met, command, verify } = await newPair();
    const signed = signCommand(met, command, HEAD, { kind: 'stream', length: '4' });
    const verdict = verify(withProof(signed.header));
    if (verdict.kind !== 'forwarded') throw new Error('it is refused');
    const { isWhole } = verdict.command;
    const digest = digestOfBody('four');
    expect(isWhole(signed.trailer(digest, 4), digest, 4)).toBe(true);
    expect(isWhole(signed.trailer(digest, 5), digest, 5)).toBe(false);
    expect(isWhole(signed.trailer(digest, 4), digestOfBody('fuor'), 4)).toBe(false);
    expect(isWhole(undefined, digest, 4)).toBe(false);
  });
});

/** Starts a server, and returns its address as that of a leader. */
async function listen(handler: RequestListener): Promise<string> {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const write = (body: SentWrite['body'] = BODY): SentWrite => ({
  ...{ method: 'POST', url: '/api/tags', body, command: 'command' },
  headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
});
const NEVER = new AbortController().signal;

/** Creates a leader that answers writes with `answer`, and a follower's sender. */
async function newLine(
  answer: (verdict: CommandVerdict) => { readonly signed: boolean; readonly body: string },
) {
  const log = newLog();
  const presence = createPresence();
  const leading = openMembership({ log, space: SPACE, owner: presence.owner, key });
  presence.join(leading);
  const verify = createCommandVerifier(leading);
  const seen: string[] = [];
  const address = await listen((request, response) => {
    seen.push(`${request.method} ${request.headers.authorization ?? '-'}`);
    if (presence.answer(request, response)) return;
    const { method = '', url = '', headers } = request;
    const verdict = verify({ method, url, headers });
    request.resume().on('end', () => {
      const { signed, body } = answer(verdict);
      const given = { status: 201, position: '', body };
      if (signed && verdict.kind === 'forwarded')
        response.setHeader(ANSWER_HEADER, verdict.command.sign(given));
      response.writeHead(201).end(body);
    });
  });
  const sender = createSender(member(log));
  onTestFinished(() => sender.close());
  return { log, sender, seen, leader: await lead(log, leading, address) };
}

describe('a write on its way to the leader', () => {
  test('is answered by the leader', async () => {
    const { sender, leader } = await newLine(() => ({ signed: true, body: 'made' }));
    for (const body of [BODY, null, Readable.from([Buffer.from('a'), Buffer.from('b')])]) {
      const sent = await sender.send(leader, write(body), NEVER);
      expect(sent).toMatchObject({ kind: 'answered', answer: { statusCode: 201 } });
    }
  });

  test('does not accept an answer without the signature of the leader', async () => {
    const { sender, leader } = await newLine(() => ({ signed: false, body: 'made' }));
    expect(await sender.send(leader, write(), NEVER)).toEqual({ kind: 'lost' });
  });

  test('is not sent to a process that cannot prove to be the leader', async () => {
    const { leader } = await newLine(() => ({ signed: true, body: 'made' }));
    const seen: string[] = [];
    const address = await listen((request, response) => {
      seen.push(`${request.method} ${request.headers.authorization ?? '-'}`);
      response.end(JSON.stringify({ owner: leader.owner, epoch: 1 }));
    });
    const log = newLog();
    const membership = member(log);
    const sender = createSender(membership);
    onTestFinished(() => sender.close());
    expect(await sender.send({ ...leader, address }, write(), NEVER)).toEqual({ kind: 'unreached' });
    expect(seen).toEqual(['GET -']);
    expect(await probeLeader({ ...leader, address }, 1_000, membership)).toBe('gone');
    // The leader refuses this process, since it has another log.
    expect(await probeLeader(leader, 1_000, membership)).toBe('gone');
    expect(await sender.send(leader, write(), NEVER)).toEqual({ kind: 'unreached' });
  });

  test('is lost if the leader does not answer it', async () => {
    const log = newLog();
    const presence = createPresence();
    const leading = openMembership({ log, space: SPACE, owner: presence.owner, key });
    presence.join(leading);
    // The leader identifies itself and then does not answer, so it may have stored the write.
    const address = await listen((request, response) => void presence.answer(request, response));
    const leader = await lead(log, leading, address);
    const sender = createSender(member(log), 200);
    onTestFinished(() => sender.close());
    expect(await sender.send(leader, write(), NEVER)).toEqual({ kind: 'lost' });
  });

  test(
    'is not sent to a process that accepts a connection and does not answer',
    takesMinutes('a silent leader'),
    async () => {
      const log = newLog();
      const silent = await listen(() => {});
      const leader = await lead(log, member(log), silent);
      const sender = createSender(member(log));
      onTestFinished(() => sender.close());
      expect(await sender.send(leader, write(), NEVER)).toEqual({ kind: 'unreached' });
    },
  );
});
