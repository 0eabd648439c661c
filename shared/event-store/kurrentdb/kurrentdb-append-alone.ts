import type { Channel } from '@grpc/grpc-js';
import { convertToCommandError } from '@kurrent/kurrentdb-client';
import sharedPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/shared_pb.js';
import streamsGrpc from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_grpc_pb.js';
import streamsPb, {
  type AppendResp,
} from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import { type BatchOutcome, type ExactAppend, proposed } from './kurrentdb-batch-append.ts';
import type { NodeClient } from './kurrentdb-client.ts';
import { reportedNumber, revisionFrom } from './kurrentdb-numbers.ts';

/** Appends with `Append`, a call for one append. Its errors say more than those of a batch call. */
export async function appendAlone(
  node: NodeClient,
  channel: Channel,
  { stream, expected, events }: ExactAppend,
  deadline: number,
): Promise<Exclude<BatchOutcome, { kind: 'unclear' }>> {
  const { promise, resolve, reject } = Promise.withResolvers<AppendResp>();
  const call = node
    .stub(streamsGrpc.StreamsClient, channel)
    .append(...node.callArguments({ requiresLeader: true, deadline }), (error, answer) => {
      if (error === null) resolve(answer);
      else reject(convertToCommandError(error));
    });
  // The callback gets the failure. A server may refuse before it has read all messages.
  call.on('error', () => undefined);
  const options = new streamsPb.AppendReq.Options();
  options.setStreamIdentifier(new sharedPb.StreamIdentifier().setStreamName(Buffer.from(stream)));
  if (expected === 'none') options.setNoStream(new sharedPb.Empty());
  else options.setRevision(`${expected}`);
  call.write(new streamsPb.AppendReq().setOptions(options));
  for (const event of events) {
    const message = proposed(new streamsPb.AppendReq.ProposedMessage(), event);
    call.write(new streamsPb.AppendReq().setProposedMessage(message));
  }
  call.end();
  return outcomeOf(stream, await promise);
}

function outcomeOf(stream: string, answer: AppendResp): Exclude<BatchOutcome, { kind: 'unclear' }> {
  const conflict = answer.getWrongExpectedVersion();
  if (conflict !== undefined) {
    const actual = conflict.hasCurrentRevision() ? conflict.getCurrentRevision() : undefined;
    return { kind: 'conflict', actual: reportedNumber(actual) };
  }
  const success = answer.getSuccess();
  const revision = revisionFrom(success?.getCurrentRevision(), stream);
  return {
    kind: 'appended',
    revision,
    position: reportedNumber(success?.getPosition()?.getCommitPosition()),
  };
}
