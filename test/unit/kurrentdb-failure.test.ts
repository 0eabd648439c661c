import { status } from '@grpc/grpc-js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import { expect, test } from 'vitest';
import {
  failureOf,
  isNodeLost,
  leaderNamedBy,
  mayPass,
  refusedWriteOf,
  unknownFailure,
} from '../../shared/event-store/kurrentdb/kurrentdb-failure.ts';
import {
  detailedError,
  messageTooLargeError,
  notLeaderError,
  notLeaderNodeError,
  rpcError,
} from '../support/kurrentdb/double-messages.ts';

/** The details of a failure of the newer protocol decide, whatever code it has. */
const failure = (code: status, reason: string, name = 'ErrorDetails') =>
  detailedError(code, 'text', {
    reason,
    domain: 'server',
    name: `kurrent.rpc.${name}`,
    details: new emptyPb.Empty(),
  });

const { ABORTED, FAILED_PRECONDITION, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED, UNAVAILABLE, INVALID_ARGUMENT } =
  status;
test.each([
  {
    error: failure(FAILED_PRECONDITION, 'NOT_LEADER_NODE', 'NotLeaderNodeErrorDetails'),
    leave: true,
    again: true,
  },
  { error: failure(UNAVAILABLE, 'SERVER_NOT_READY'), leave: true, again: true },
  { error: failure(FAILED_PRECONDITION, 'SERVER_NOT_READY'), leave: true, again: true },
  { error: failure(RESOURCE_EXHAUSTED, 'SERVER_OVERLOADED'), leave: false, again: true },
  { error: failure(DEADLINE_EXCEEDED, 'OPERATION_TIMEOUT'), leave: false, again: true },
  { error: failure(INVALID_ARGUMENT, 'BAD_REQUEST'), leave: false, again: false },
  { error: messageTooLargeError(), leave: false, again: false, answer: 'too-large' },
  {
    error: failure(ABORTED, '', 'AppendTransactionSizeExceededErrorDetails'),
    leave: false,
    again: false,
    answer: 'too-large',
  },
  {
    error: failure(FAILED_PRECONDITION, '', 'StreamTombstonedErrorDetails'),
    leave: false,
    again: false,
    answer: 'deleted',
  },
  {
    error: failure(
      FAILED_PRECONDITION,
      'APPEND_CONSISTENCY_VIOLATION',
      'AppendConsistencyViolationErrorDetails',
    ),
    leave: false,
    again: false,
  },
])('$error.code, leave: $leave, again: $again', ({ error, leave, again, answer = 'unavailable' }) => {
  expect([isNodeLost(error), mayPass(error), unknownFailure(error)]).toEqual([leave, again, undefined]);
  expect(refusedWriteOf(error)).toBe(answer);
});

test.each(['INTERNAL', 'ABORTED', 'FAILED_PRECONDITION', 'UNKNOWN'] as const)(
  '%s that no row describes is reported with all its details, and its node is left',
  (code) => {
    const error = failure(status[code], 'SOMETHING_NEW', 'SomethingNewErrorDetails');
    expect([isNodeLost(error), mayPass(error)]).toEqual([true, true]);
    error.metadata.set('exception', 'something-new');
    const said = `code ${status[code]}, details SomethingNewErrorDetails, reason SOMETHING_NEW, exception something-new`;
    expect(unknownFailure(error)).toBe(said);
  },
);

test('a refusal names the leader', () => {
  const error = notLeaderNodeError({ host: 'db2.internal', port: 2113 });
  expect(leaderNamedBy(error)).toEqual({ address: 'db2.internal', port: 2113 });
});

test.each(['RESOURCE_EXHAUSTED', 'INVALID_ARGUMENT'] as const)(
  '%s with a reason that no row has is not the refusal of a large append',
  (code) => {
    const error = failure(status[code], 'SOMETHING_NEW', 'SomethingNewErrorDetails');
    expect([isNodeLost(error), mayPass(error), refusedWriteOf(error)]).toEqual([false, false, 'unavailable']);
  },
);

const damaged = (code: status) => {
  const error = rpcError(code, 'text');
  error.metadata.set('grpc-status-details-bin', Buffer.from([0x1a, 0x7f, 0x01]));
  return error;
};
test.each([
  ['no leader', rpcError(status.NOT_FOUND, 'text', { exception: 'not-leader' })],
  ['no stream', rpcError(status.FAILED_PRECONDITION, 'text', { exception: 'stream-deleted' })],
  ['no revision', rpcError(status.FAILED_PRECONDITION, 'text', { exception: 'wrong-expected-version' })],
  ['damaged details', damaged(status.FAILED_PRECONDITION)],
  ['damaged details of an aborted call', damaged(status.ABORTED)],
])('a failure with %s is an error without a row, and nothing is thrown', (_, error) => {
  const converted = failureOf(error);
  expect(converted.message).toBe('text');
  for (const each of [error, converted]) {
    expect([isNodeLost(each), mayPass(each), refusedWriteOf(each)]).toEqual([true, true, 'unavailable']);
    expect(leaderNamedBy(each)).toBeUndefined();
    expect(unknownFailure(each)).toContain(`code ${error.code}`);
  }
});

test.each([
  ['', 2113],
  ['db2', 0],
  ['db2', 70_000],
])('a leader at %j, port %s, is none', (host, port) => {
  expect(leaderNamedBy(notLeaderNodeError({ host, port }))).toBeUndefined();
  expect(leaderNamedBy(notLeaderError({ host, port }))).toBeUndefined();
});
