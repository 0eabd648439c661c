import { createFollowApi, type FollowApi, type FollowApiOptions } from './follow-api.ts';
import { type FollowOptions, type OpenFollowerOptions, openFollower } from './open-follower.ts';
import { createStrapiProxy } from './strapi-proxy.ts';

export type FollowStrapiOptions = Omit<OpenFollowerOptions, 'follow'> &
  Pick<FollowApiOptions, 'fleet' | 'key'> & {
    readonly follow: FollowOptions & Pick<FollowApiOptions, 'writes' | 'webhookSecret'>;
  };

/** Follows a Strapi in this process: the leader reads it, and every process sends writes on to it. */
export function followStrapi(options: FollowStrapiOptions): {
  readonly api: FollowApi;
  readonly isCopying: () => boolean;
  close(): Promise<void>;
} {
  const { follow, graph } = options;
  const follower = openFollower(options);
  const api = createFollowApi({
    ...options,
    follower,
    writes: follow.writes,
    webhookSecret: follow.webhookSecret,
    url: follow.url,
    proxy: createStrapiProxy(follow),
    documentOfId: graph.reader.documentOfId,
    position: graph.position,
  });
  return { api, isCopying: follower.isCopying, close: follower.close };
}
