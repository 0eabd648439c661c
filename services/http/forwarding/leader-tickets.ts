import type { FastifyInstance } from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';
import { NotLeading } from '../../command/not-leading.ts';
import { SECURITY_HEADERS } from '../answers/responses.ts';
import type { StreamTickets, Tickets } from '../streams/tickets.ts';
import { acceptForLeader } from './accept-for-leader.ts';
import type { AskLeader, ForwardingOptions } from './forward-writes.ts';
import type { SentAnswer } from './send-on.ts';

export type LeaderTicketsOptions = Pick<ForwardingOptions, 'fleet' | 'commands' | 'newCommandId'> & {
  readonly own: Tickets;
  readonly askLeader: AskLeader;
};

const PATH = '/_varve/tickets/use';

/**
 * Lets the leader count tickets. A ticket names the claim of the process that was the leader when it was made. No other process accepts it,
 * so it is used at most once. After a takeover, clients ask for another ticket.
 */
export function countTickets(scope: FastifyInstance, options: LeaderTicketsOptions): StreamTickets {
  const { fleet, own, askLeader, newCommandId } = options;
  const claim = (): string => {
    const led = fleet.leader();
    if (led.kind === 'nobody')
      throw new RequestError('no-leader', 'There is no leader: tickets are not possible for now');
    return led.leader.claim;
  };
  const useHere = (ticket: string): void => {
    const led = fleet.leader();
    if (led.kind !== 'here') throw new NotLeading();
    own.use(ticket, led.leader.claim);
  };
  scope.post(PATH, { config: { members: ['ticket'] } }, async (request, reply) => {
    acceptForLeader(options, request);
    useHere(String((request.body as { readonly ticket?: unknown } | undefined)?.ticket));
    reply.code(204).headers(SECURITY_HEADERS).send();
  });
  return {
    create: (authorization) => own.create(authorization, claim()),
    async use(ticket) {
      const authorization = own.read(ticket);
      for (;;) {
        const body = JSON.stringify({ ticket });
        const headers = { 'content-type': 'application/json' };
        const answer =
          fleet.leader().kind === 'here'
            ? 'here'
            : await askLeader({ method: 'POST', url: PATH, headers, body, command: newCommandId() });
        if (answer === 'here') {
          if (fleet.leader().kind !== 'here') continue;
          useHere(ticket);
        } else if (answer.statusCode !== 204) throw refusedBy(answer);
        return authorization;
      }
    },
  };
}

function refusedBy({ statusCode, body }: SentAnswer): RequestError {
  if (statusCode === 401) {
    const { error } = JSON.parse(body.toString()) as { readonly error: { readonly message: string } };
    return new RequestError('unauthorized', error.message);
  }
  return new RequestError('no-leader', `The leader could not count the ticket, and answered ${statusCode}`, {
    found: body.toString().slice(0, 200),
  });
}
