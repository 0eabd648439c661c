import type { FastifyRequest } from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';
import { NotLeading } from '../../command/not-leading.ts';
import type { ForwardingOptions } from './forward-writes.ts';

/**
 * Accepts a request that another process of the log has sent to the leader. Throws RequestError (404) for other senders, and NotLeading if
 * this process is not the leader.
 */
export function acceptForLeader(
  { fleet, commands }: Pick<ForwardingOptions, 'fleet' | 'commands'>,
  request: FastifyRequest,
): void {
  if (commands.accept(request, false) === undefined) throw new RequestError('not-found', 'Not Found');
  if (fleet.leader().kind !== 'here') throw new NotLeading();
}
