import { setTimeout as delay } from 'node:timers/promises';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { isForeign, refuseUnreadable } from '../../shared/event-store/unreadable.ts';
import { epochAfter, isFenced } from '../../shared/fleet/fence.ts';
import { leaseStream } from '../../shared/fleet/lease-events.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import { definitionStream } from '../append-definitions.ts';
import { createTypesWatch, type TypesWatch } from '../types-watch.ts';

export type TypesInForceOptions = {
  readonly log: EventStore;
  readonly space: string;
  /** Those of this process. */
  readonly definitions: readonly TypeDefinition[];
};

const LOOK_EVERY = 400;

/**
 * Resolves when the content types of this process are those that the leader has brought into force: with others it would ask for
 * what no index has. `waiting` is told once of those that differ. Rejects with UnreadableEvent where the log has claims or
 * definitions that this program cannot vouch for.
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
  const claims = await Array.fromAsync(log.readStream(leaseStream(space)));
  claims.forEach(refuseUnreadable);
  const inForce = async (uid: string): Promise<string | undefined> => {
    let text: string | undefined;
    for await (const event of log.readStream(definitionStream(space, uid))) {
      refuseUnreadable(event);
      if (isForeign(event)) continue;
      const before = claims.filter(({ position }) => position < event.position);
      if (!isFenced(event, before.reduce(epochAfter, 0))) text = JSON.stringify(event.data);
    }
    return text;
  };
  const texts = await Promise.all(definitions.map(({ uid }) => inForce(uid)));
  return definitions.filter((definition, i) => texts[i] !== JSON.stringify(definition)).map(({ uid }) => uid);
}

/** Of a process without a graph. `epoch`: of the newest claim before the events that will be followed. */
export function watchTypes(definitions: readonly TypeDefinition[], epoch: number): TypesWatch {
  const own = new Map(definitions.map((definition) => [definition.uid, JSON.stringify(definition)]));
  let newest = epoch;
  const isOther = (event: StoredEvent): boolean => {
    newest = epochAfter(newest, event);
    if (event.unreadable !== undefined) return false;
    if (event.type !== 'content-type-defined' || isFenced(event, newest)) return false;
    const text = own.get((event.data as TypeDefinition).uid);
    return text !== undefined && text !== JSON.stringify(event.data);
  };
  return createTypesWatch('the leader', (events) =>
    events.filter(isOther).map(({ data }) => (data as TypeDefinition).uid),
  );
}
