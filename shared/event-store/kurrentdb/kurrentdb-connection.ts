import { type Address, parseAddress } from './kurrentdb-address.ts';
import { type BatchAppender, createBatchAppender } from './kurrentdb-batch-append.ts';
import { createNodeClient, type NodeClient } from './kurrentdb-client.ts';
import { createExplain } from './kurrentdb-diagnose.ts';
import { createGossip } from './kurrentdb-gossip.ts';
import { createReadHistory, type History, type ReadUnproven } from './kurrentdb-history.ts';
import { readEvents } from './kurrentdb-read.ts';
import { type RetryLimits, reportRetry, withDeadline } from './kurrentdb-retry.ts';

/**
 * State that the adapter's parts share. There are two clients. Reads move to another node when theirs is lost. An append whose node is lost
 * has an unknown result, so it waits there for its answer or failure.
 */
export type Connection = {
  readonly address: Address;
  /** Client for appends and subscriptions. */
  readonly writer: NodeClient;
  /** Appender on the writer's channel. */
  readonly batches: BatchAppender;
  /** Client for pages. */
  readonly reader: NodeClient;
  /** History that this process has read. */
  readonly history: History;
  /** Prefix of the names of the namespace's streams. */
  readonly prefix: string;
  readonly retryLimits: RetryLimits;
  close(): void;
};

/** Creates the connection. It sends nothing before the first call. Throws when parseAddress throws. */
export function connect(url: string, space: string, options: RetryLimits): Connection {
  const address = parseAddress(url);
  const retryLimits = { ...options, explain: createExplain(address) };
  const searching = () => {
    const error = new Error(`no node of ${address.shown} answers, or none of them is the leader`);
    const retryInMs = address.discoveryIntervalMs;
    // Never rejects: `reportRetry` ignores failures of a report.
    void reportRetry(retryLimits, { operation: 'search for a node', error, attempt: 1, retryInMs });
  };
  const readUnproven: ReadUnproven = async (message) => {
    const on = await withDeadline(reader.channel.unproven(), options.deadlineMs);
    return readEvents(reader, message, options.deadlineMs, on);
  };
  const history = createReadHistory(address, readUnproven);
  const watch = { gossip: createGossip(address), searching, prove: () => history.prove() };
  const writer = createNodeClient(address, watch);
  const reader = createNodeClient(address, watch);
  const batches = createBatchAppender(writer, options.deadlineMs);
  return {
    address,
    writer,
    batches,
    reader,
    history,
    prefix: `${space}.`,
    retryLimits,
    close() {
      batches.close();
      writer.close();
      reader.close();
    },
  };
}
