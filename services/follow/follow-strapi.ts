import { createFollowApi, type FollowApiOptions } from './follow-api.ts';
import { type FollowOptions, type OpenFollowerOptions, openFollower } from './open-follower.ts';

export type FollowStrapiOptions = Omit<OpenFollowerOptions, 'follow'> &
  Pick<FollowApiOptions, 'fleet' | 'key'> & { readonly follow: FollowOptions & FollowApiOptions['follow'] };

/** Follows a Strapi in this process: the leader reads it, and every process forwards writes to it. */
export function followStrapi(options: FollowStrapiOptions) {
  const { graph } = options;
  const follower = openFollower(options);
  const api = createFollowApi({
    ...options,
    follower,
    documentOfId: graph.reader.documentOfId,
    position: graph.position,
  });
  return { api, isCopying: follower.isCopying, close: follower.close };
}
