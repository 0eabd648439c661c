import { setTimeout as delay } from 'node:timers/promises';
import { definitionStream } from '../../shared/document/stream-name.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { refuseUnreadable } from '../../shared/event-store/unreadable.ts';
import { leaseStream } from '../../shared/fleet/lease-events.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import { trackDefinitions, typesNotInForce } from './definitions-in-force.ts';
import { describeDifferences } from './describe-differences.ts';
import { createTypesWatch, type TypesWatch } from './types-watch.ts';

export type TypesInForceOptions = {
  readonly log: EventStore;
  readonly space: string;
  /** The definitions of this process. */
  readonly definitions: readonly TypeDefinition[];
};

const LOOK_EVERY = 400;

/**
 * Resolves when the content types of this process are in force. With other content types it would query fields that no index has. Calls
 * `waiting` once with what differs in each of them. Rejects with UnreadableEvent if the log has claims or definitions that this program
 * cannot read.
 */
export async function typesInForce(
  options: TypesInForceOptions,
  waiting: (types: readonly string[]) => void,
): Promise<void> {
  for (let isTold = false; ; isTold = true) {
    const types = await differing(options);
    if (types.length === 0) return;
    if (!isTold) waiting(types);
    await delay(LOOK_EVERY);
  }
}

async function differing({ log, space, definitions }: TypesInForceOptions): Promise<readonly string[]> {
  const streams = [leaseStream(space), ...definitions.map(({ uid }) => definitionStream(space, uid))];
  const read = await Promise.all(streams.map((stream) => Array.fromAsync(log.readStream(stream))));
  const inForce = trackDefinitions(0);
  for (const event of read.flat().sort((a, b) => (a.position < b.position ? -1 : 1))) {
    refuseUnreadable(event);
    inForce.apply(event);
  }
  return describeDifferences(definitions, inForce.text);
}

/** Watches content types in a process without a graph. `epoch`: of the newest claim before the first event. */
export function watchTypes(definitions: readonly TypeDefinition[], epoch: number): TypesWatch {
  const own = new Map(definitions.map((definition) => [definition.uid, JSON.stringify(definition)]));
  const inForce = trackDefinitions(epoch, (uid) => own.get(uid));
  return createTypesWatch('the leader', (events) => {
    const defined = events.filter((event) => inForce.apply(event) !== undefined);
    return defined.length === 0 ? [] : typesNotInForce(definitions, inForce.text);
  });
}
