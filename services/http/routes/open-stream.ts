import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Rights, rightsKey } from '../../../shared/access/rights.ts';
import { RequestError } from '../../../shared/request-error.ts';
import type { AccessControl } from '../../access/access-control.ts';
import type { CallerApi } from '../api/caller-apis.ts';
import type { Freshness } from '../requests/await-position.ts';
import type { EventStream, EventStreams } from '../streams/event-streams.ts';
import type { StreamTickets } from '../streams/tickets.ts';
import type { Authenticate } from './authenticate.ts';
import { queryOf } from './entry-routes.ts';

/** Parts that all routes of streams share. */
export type StreamContext = {
  readonly streams: EventStreams;
  readonly tickets: StreamTickets;
  readonly access: AccessControl;
  readonly authenticate: Authenticate;
  readonly apiFor: (rights: Rights) => CallerApi;
  readonly freshness: Freshness;
  readonly failed: (error: unknown) => void;
};

/** A request for a stream, after its ticket was used. */
export type StreamRequest = {
  readonly rights: Rights;
  /** Header of the request for which the ticket was made, or of this one. */
  readonly authorization: string | undefined;
  /** Query string without the ticket. */
  readonly query: string;
  /** Id of the last event that the client has received. */
  readonly last: string | undefined;
  open(): Promise<EventStream>;
};

/** Reads a request for a stream. With a ticket the caller is the sender of the request for which the ticket was made. */
export async function readStreamRequest(
  { streams, tickets, access, authenticate }: StreamContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<StreamRequest> {
  const { ticket, query } = takeTicket(queryOf(request));
  const caller = { headers: { ...request.headers }, rights: request.rights, signedIn: request.signedIn };
  if (ticket !== undefined) {
    if (request.headers.authorization !== undefined)
      throw new RequestError('invalid-query', "Send either 'Authorization' or 'ticket'");
    caller.headers.authorization = await tickets.use(ticket);
    await authenticate(caller as FastifyRequest);
  }
  const { authorization } = caller.headers;
  const { rights, signedIn } = caller;
  const actor = access.actorOf(authorization);
  const id = actor.kind === 'token' ? `token ${actor.id}` : `${signedIn?.user?.id ?? ''} ${request.ip}`;
  const last = request.headers['last-event-id'];
  return {
    rights,
    authorization,
    query,
    last: typeof last === 'string' && last !== '' ? last : undefined,
    open() {
      const expires = signedIn === undefined ? access.expiresAt(authorization) : signedIn.expires;
      const user = signedIn?.user?.documentId;
      return streams.open(request, reply, { id, authorization, rights: rightsKey(rights), user, expires });
    },
  };
}

const TICKET = 'ticket=';

function takeTicket(query: string): { readonly ticket: string | undefined; readonly query: string } {
  const parts = query.split('&');
  const tickets = parts.filter((part) => part.startsWith(TICKET));
  if (tickets.length === 0) return { ticket: undefined, query };
  if (tickets.length > 1)
    throw new RequestError('invalid-query', "The parameter 'ticket' is there twice", {
      source: 'query',
      param: 'ticket',
      found: tickets.length,
      accepted: 'one ticket',
    });
  return {
    ticket: tickets[0]?.slice(TICKET.length),
    query: parts.filter((part) => !part.startsWith(TICKET)).join('&'),
  };
}

/** Creates a function that returns the key of the current rights of an `Authorization`; undefined if it is no longer valid. */
export function currentRights(authenticate: Authenticate) {
  return async (authorization: string | undefined): Promise<string | undefined> => {
    const asking = { headers: authorization === undefined ? {} : { authorization } } as FastifyRequest;
    try {
      await authenticate(asking);
      return rightsKey(asking.rights);
    } catch {
      return undefined;
    }
  };
}
