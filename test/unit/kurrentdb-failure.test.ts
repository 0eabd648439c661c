import { status } from '@grpc/grpc-js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import { expect, test } from 'vitest';
import {
  isNodeLost,
  leaderNamedBy,
  mayPass,
  unknownFailure,
} from '../../shared/event-store/kurrentdb/kurrentdb-failure.ts';
import { detailedError, notLeaderNodeError } from '../support/kurrentdb/double-messages.ts';

/** The details of a failure of the newer protocol decide, whatever code it has. */
const failure = (code: status, reason: string, name = 'ErrorDetails') =>
  detailedError(code, 'text', {
    reason,
    domain: 'server',
    name: `kurrent.rpc.${name}`,
    details: new emptyPb.Empty(),
  });

const { FAILED_PRECONDITION, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED, UNAVAILABLE, INVALID_ARGUMENT } = status;
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
  {
    error: failure(
      FAILED_PRECONDITION,
      'APPEND_CONSISTENCY_VIOLATION',
      'AppendConsistencyViolationErrorDetails',
    ),
    leave: false,
    again: false,
  },
])('$error.code, leave: $leave, again: $again', ({ error, leave, again }) => {
  expect([isNodeLost(error), mayPass(error), unknownFailure(error)]).toEqual([leave, again, undefined]);
});

test.each(['INTERNAL', 'ABORTED', 'FAILED_PRECONDITION', 'UNKNOWN'] as const)(
  '%s that no row describes is reported with all its details, and its node is left',
  (code) => {
    const error = failure(status[code], 'SOMETHING_NEW', 'SomethingNewErrorDetails');
    expect([isNodeLost(error), mayPass(error)]).toEqual([true, true]);
    const said = `code ${status[code]}, details SomethingNewErrorDetails, reason SOMETHING_NEW`;
    expect(unknownFailure(error)).toBe(said);
  },
);

test('a refusal names the leader', () => {
  const error = notLeaderNodeError({ host: 'db2.internal', port: 2113 });
  expect(leaderNamedBy(error)).toEqual({ address: 'db2.internal', port: 2113 });
});
