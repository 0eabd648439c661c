import { NotLeading } from '../command/not-leading.ts';
import { createFollowApi, type FollowApi, type FollowApiOptions } from './follow-api.ts';
import { createFollowState } from './follow-state.ts';

export type SendToStrapiOptions = Pick<FollowApiOptions, 'registry' | 'fleet' | 'key' | 'follow'>;

/** Creates the API of a process that cannot become leader. It forwards writes to Strapi, and the leader reads the changes. */
export function sendToStrapi(options: SendToStrapiOptions): FollowApi {
  const state = createFollowState({ pending: () => 0, stuck: () => [], requests: () => 0 });
  return createFollowApi({
    ...options,
    // Strapi's answers already contain documentIds.
    documentOfId: () => undefined,
    follower: { sync: () => Promise.reject(new NotLeading()), look: () => {}, state },
    position: () => 0n,
  });
}
