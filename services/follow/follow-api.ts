import * as z from 'zod';
import type { DocumentName } from '../../shared/document/recorded-rows.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { hmac, isSameText } from '../../shared/text-digest.ts';
import { NotLeading } from '../command/not-leading.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { FollowStatus } from './follow-state.ts';
import type { Follower } from './follower.ts';
import { createStrapiProxy, type StrapiProxy, type StrapiProxyOptions } from './strapi-proxy.ts';

/** Follower of a Strapi, for the handlers of HTTP requests. */
export type FollowApi = {
  readonly registry: SchemaRegistry;
  readonly writes: 'forward' | 'refuse';
  readonly isWebhook: (authorization: string | undefined) => boolean;
  readonly proxy: StrapiProxy;
  readonly documentOfId: (type: Uid, id: number) => { readonly documentId: string } | undefined;
  /** Makes the leader read documents again. Resolves with a position of the log that has their changes. */
  reread(names: readonly DocumentName[]): Promise<bigint>;
  /** Does the same for another process, whose proof shows that it shares the log. */
  rereadFor(proof: string | undefined, text: string): Promise<bigint>;
  /** Handles a webhook from Strapi. */
  heard(names: readonly DocumentName[] | undefined): void;
  /** Looks for changes after a write whose answer does not name the documents. */
  look(): void;
  status(): FollowStatus;
};

export type FollowApiOptions = Pick<FollowApi, 'registry' | 'documentOfId'> & {
  readonly follow: StrapiProxyOptions &
    Pick<FollowApi, 'writes'> & { readonly webhookSecret: string | undefined };
  readonly follower: Pick<Follower, 'sync' | 'look' | 'state'>;
  readonly fleet: Pick<Fleet, 'leader'>;
  /** Key that is the same in every process of the log. */
  readonly key: Uint8Array;
  readonly position: () => bigint;
};

/** Path under which the leader reads documents for another process. */
export const REREAD_PATH = '/_varve/strapi/documents';
export const REREAD_PROOF = 'varve-follow-proof';

const TIMEOUT_MS = 15_000;
const NAMES = z
  .array(z.strictObject({ type: z.string().max(200), documentId: z.string().max(100) }))
  .max(100);
const POSITION = z.object({ position: z.string().regex(/^\d{1,20}$/) });

/** Creates the requests of a follower. Other processes send them to the leader, signed with the key of the log. */
export function createFollowApi(options: FollowApiOptions): FollowApi {
  const { follow, follower, fleet, position } = options;
  const { url, writes, webhookSecret } = follow;
  const prove = (text: string) => hmac(options.key, text).toString('base64url');
  const rereadHere = async (names: readonly DocumentName[]): Promise<bigint> => {
    await follower.sync(names);
    return position();
  };
  const rereadThere = async (names: readonly DocumentName[]): Promise<bigint> => {
    const led = fleet.leader();
    if (led.kind !== 'elsewhere') throw new NotLeading();
    const text = JSON.stringify(names.map(({ type, documentId }) => ({ type, documentId })));
    const answer = await fetch(new URL(REREAD_PATH, led.leader.address), {
      method: 'POST',
      body: text,
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { 'content-type': 'text/plain', [REREAD_PROOF]: prove(text) },
    });
    return BigInt(POSITION.parse(await answer.json()).position);
  };
  const reread: FollowApi['reread'] = (names) =>
    fleet.leader().kind === 'here' ? rereadHere(names) : rereadThere(names);
  return {
    ...options,
    writes,
    proxy: createStrapiProxy(follow),
    reread,
    isWebhook: (authorization) =>
      webhookSecret !== undefined && isSameText(authorization ?? '', `Bearer ${webhookSecret}`),
    async rereadFor(proof, text) {
      if (!isSameText(proof ?? '', prove(text)))
        throw new RequestError('unauthorized', 'Only other processes of this log may ask for that');
      return rereadHere(NAMES.parse(JSON.parse(text)));
    },
    heard(names) {
      follower.state.heard();
      if (names === undefined) follower.look();
      // If the request fails, the next look for changes finds the documents.
      else reread(names).catch(() => follower.look());
    },
    look: follower.look,
    status: () => ({ url, ...follower.state.status() }),
  };
}
