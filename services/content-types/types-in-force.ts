import { setTimeout as delay } from 'node:timers/promises';
import { definitionStream } from '../../shared/document/stream-name.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { refuseUnreadable } from '../../shared/event-store/unreadable.ts';
import { createEffectiveEvents } from '../../shared/fleet/effective-events.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import { readLease } from '../fleet/lease-view.ts';
import { isDefinition, typesNotInForce } from './definitions-in-force.ts';
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
  // Rejects if the log has claims that this program cannot read.
  await readLease(log, space);
  const { stream } = createEffectiveEvents(log, space);
  const inForce = new Map<string, string>();
  const read = async ({ uid }: TypeDefinition) => {
    for await (const event of stream(definitionStream(space, uid))) {
      refuseUnreadable(event);
      inForce.set(uid, JSON.stringify(event.data));
    }
  };
  await Promise.all(definitions.map(read));
  return describeDifferences(definitions, (uid) => inForce.get(uid));
}

/** Watches content types in a process without a graph. Its `apply` gets the events that count. */
export function watchTypes(definitions: readonly TypeDefinition[]): TypesWatch {
  const inForce = new Map(definitions.map((definition) => [definition.uid, JSON.stringify(definition)]));
  return createTypesWatch('the leader', (events) => {
    const defined = events.filter(isDefinition);
    for (const { data } of defined) inForce.set((data as TypeDefinition).uid, JSON.stringify(data));
    return defined.length === 0 ? [] : typesNotInForce(definitions, (uid) => inForce.get(uid));
  });
}
