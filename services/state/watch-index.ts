import type { ClusterHealth, ClusterWatch } from '../../shared/read-index/cluster-health.ts';
import type { IndexFault } from '../../shared/read-index/index-fault.ts';
import { valueWithin } from '../../shared/value-within.ts';
import type { ConditionCheck, FoundCondition } from '../operating/conditions.ts';

/** Indices outside the process that a process reads. */
export type ReadIndices = {
  readonly watch: ClusterWatch;
  /** Returns the content types whose indices somebody else has changed. */
  readonly faults: () => Promise<readonly IndexFault[]>;
  /** Number of content types. */
  readonly types: number;
};

/**
 * Returns a check of the indices outside the process. `answersReads`: the process is not ready while it refuses the reads of all content
 * types.
 */
export function checkIndex({ watch, faults, types }: ReadIndices, answersReads: boolean): ConditionCheck {
  const { address, health } = watch;
  return async () => {
    try {
      const [found, known] = await Promise.all([health(), faults()]);
      const refused = known.filter((each) => each.refusesReads);
      const isUnready = answersReads && (refused.length >= types || !found.hasWhole);
      const message = refusedText(refused) ?? unusableText(address, found);
      if (message !== undefined) return { code: 'index-unusable', message, isUnready };
      return replicasMissing(address, found);
    } catch (error) {
      return {
        code: 'read-index-unreachable',
        message: failureText(address, error as Refusal),
        isUnready: answersReads,
      };
    }
  };
}

type Refusal = Error & { readonly statusCode?: number };

/** Says that the cluster is away, or that it refuses its user: the reason names the right that is missing. */
function failureText(address: string, { statusCode, message }: Refusal): string {
  const isRefused = statusCode === 401 || statusCode === 403;
  return `Elasticsearch at ${address} ${isRefused ? 'refuses its user' : 'does not answer'}: ${message.replaceAll(/\s+/g, ' ')}`;
}

/** Names the first content type whose reads are refused, with the reason. */
function refusedText([first, ...others]: readonly IndexFault[]): string | undefined {
  if (first === undefined) return undefined;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `Reads of ${first.type}${more} are answered with 503: ${first.reason}`;
}

/** Names indices that the leader has not found yet, for example because there is none. */
function unusableText(
  address: string,
  { missing, red }: Pick<ClusterHealth, 'missing' | 'red'>,
): string | undefined {
  if (missing.length > 0) return `Elasticsearch at ${address} has no index ${some(missing)}`;
  return red.length > 0 ? `Elasticsearch at ${address} has lost a shard of ${some(red)}` : undefined;
}

function some(names: readonly string[]): string {
  const others = names.length > 3 ? ` and ${names.length - 3} others` : '';
  return names.slice(0, 3).join(', ') + others;
}

function replicasMissing(
  address: string,
  { status, unassignedShards }: ClusterHealth,
): FoundCondition | undefined {
  if (status === 'green') return undefined;
  return {
    code: 'index-not-green',
    message: `Elasticsearch at ${address} is ${status}: ${unassignedShards} copies of shards have no node`,
  };
}

/** A metric is read for two seconds. Without a value no alert fires. */
const ANSWERS_WITHIN_MS = 1_500;

/** Returns a function that says whether the indices answer in time. */
export function reachable({ health }: ClusterWatch): () => Promise<boolean> {
  return async () => {
    const answered = health().then(
      () => true,
      () => false,
    );
    return (await valueWithin(ANSWERS_WITHIN_MS, answered)) ?? false;
  };
}
