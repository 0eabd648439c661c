import type { IndexIdentity } from '../../shared/read-index/elasticsearch/indices/index-record.ts';
import type {
  ObservedContent,
  ObservedDefinition,
} from '../../shared/read-index/elasticsearch/indices/observe-indices.ts';
import type { FaultKind } from '../../shared/read-index/index-fault.ts';

/** An index as its writer knows it. undefined: not known yet. */
export type WrittenIndex = {
  readonly index: string;
  readonly uuid: IndexIdentity['uuid'] | undefined;
  readonly histories: IndexIdentity['histories'] | undefined;
  /** Number of its mapping's changes. */
  readonly mapping: number | undefined;
};

/** Difference between an index and the one that was written. */
export type Finding = {
  readonly kind: FaultKind;
  readonly reason: string;
  /** False: reads are right as long as no document waits. */
  readonly refusesReads: boolean;
};

/** State of an index in the cluster. undefined: the cluster does not report it. */
export type ObservedIndex = {
  readonly content: ObservedContent | undefined;
  readonly definition: ObservedDefinition | undefined;
};

/** Blocks under which an index accepts no documents, or answers no searches. */
const STOPPING: readonly string[] = ['read_only', 'read_only_allow_delete', 'write', 'read'];

/** Compares an index with the one that was written. Returns undefined if it is as it was left, and accepts documents. Pure. */
export function findFault(written: WrittenIndex, observed: ObservedIndex): Finding | undefined {
  const { content, definition } = observed;
  const name = `its index ${written.index}`;
  if (content === undefined && definition === undefined)
    return refusing('missing', `${name} does not exist any more`);
  if (content === undefined || !content.isAssigned)
    return refusing('unassigned', `no copy of ${name} answers`);
  if (!content.isOpen)
    return refusing('closed', `${name} is closed: open it, or delete it so that Varve makes it again`);
  if (content.uuid !== (written.uuid ?? content.uuid))
    return refusing('replaced', `${name} was replaced by another one`);
  if (content.histories !== (written.histories ?? content.histories))
    return refusing('restored', `${name} was restored from a snapshot, or from a copy that lacks writes`);
  return definition && findInDefinition(written, definition);
}

function findInDefinition({ index, mapping }: WrittenIndex, found: ObservedDefinition): Finding | undefined {
  if (found.mapping !== (mapping ?? found.mapping))
    return refusing('mapping', `the mapping of its index ${index} was changed`);
  const blocks = found.blocks.filter((block) => STOPPING.includes(block));
  if (blocks.length === 0) return undefined;
  const reason = `its index ${index} is blocked (${blocks.join(', ')}): lift the block`;
  return { kind: 'blocked', reason, refusesReads: blocks.includes('read') };
}

function refusing(kind: FaultKind, reason: string): Finding {
  return { kind, reason, refusesReads: true };
}
