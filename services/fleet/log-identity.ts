import { randomUUID } from 'node:crypto';
import { defined } from '../../shared/defined.ts';
import type { EventStore, NewEvent } from '../../shared/event-store/event-store.ts';
import { newEvent } from '../../shared/events/new-event.ts';
import { identityStream, type LogIdentified } from '../../shared/fleet/identity-events.ts';
import { type LeaseEvent, leaseStream } from '../../shared/fleet/lease-events.ts';
import { readLease } from './lease-view.ts';

/** Identity of a log, and the revision of its stream. */
type Identity = { readonly id: string | undefined; readonly revision: bigint | undefined };

async function readIdentity(log: EventStore, space: string): Promise<Identity> {
  let identity: Identity = { id: undefined, revision: undefined };
  for await (const { type, data, revision, unreadable } of log.readStream(identityStream(space))) {
    const isIdentity = type === 'log-identified' && unreadable === undefined;
    identity = { id: isIdentity ? (data as LogIdentified['data']).id : identity.id, revision };
  }
  return identity;
}

/** Returns the identity of a log; undefined before its first leader. */
export async function identityOfLog(log: EventStore, space: string): Promise<string | undefined> {
  return (await readIdentity(log, space)).id;
}

/** Gives an identity to a log without one, or a new one to a copy. Only the leader calls it. */
export async function identifyLog(log: EventStore, space: string, isCopy: boolean): Promise<void> {
  let seen: bigint | undefined;
  for (;;) {
    const { id: copyOf, revision = seen } = await readIdentity(log, space);
    if (copyOf !== undefined && !isCopy) return;
    const stored = await log.append(identityStream(space), revision ?? 'none', [identified({ copyOf })]);
    if (stored.kind === 'appended') return;
    // The stream may have been truncated on the log's server. Then none of its events can be read.
    if (stored.kind === 'conflict') seen = stored.actual;
  }
}

/** Makes a separate log of a copy that no server has open yet: it has its own identity and no leader. */
export async function beginLog(log: EventStore, space: string): Promise<void> {
  const { id: copyOf } = await readIdentity(log, space);
  await log.append(identityStream(space), 'any', [identified({ copyOf })]);
  const { leader, epoch, revision } = await readLease(log, space);
  if (leader === undefined || revision === undefined) return;
  const steppedDown = byOperator({ type: 'leader-stepped-down', data: { epoch } }, epoch);
  await log.append(leaseStream(space), revision, [steppedDown]);
}

/** Begins a log that gets the events of another log. Its first event names the head of that log's hash chain. */
export async function nameHistory(
  log: EventStore,
  space: string,
  history: LogIdentified['data']['history'],
): Promise<void> {
  await log.append(identityStream(space), 'none', [identified({ history })]);
}

/** Returns the event that gives a log a new identity. */
function identified(origin: {
  copyOf?: string | undefined;
  history?: LogIdentified['data']['history'];
}): NewEvent {
  return byOperator({ type: 'log-identified', data: { id: randomUUID(), ...defined(origin) } }, 0);
}

function byOperator(event: LogIdentified | LeaseEvent, epoch: number): NewEvent {
  return newEvent(event, { at: new Date().toISOString(), epoch, actor: { kind: 'operator' } });
}
