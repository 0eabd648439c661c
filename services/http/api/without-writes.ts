import { NotLeading } from '../../command/not-leading.ts';
import type { GuardedApis } from './guard-content-api.ts';

async function refuse(): Promise<never> {
  throw new NotLeading();
}

/**
 * Returns APIs whose writes throw NotLeading. Behind a guard they check a caller's rights and carry nothing out, so a process that forwards
 * writes refuses what the leader would refuse. A form is not read.
 */
export function withoutWrites({ content, uploads }: GuardedApis): GuardedApis {
  return {
    content: {
      ...content,
      create: refuse,
      update: refuse,
      remove: refuse,
      act: refuse,
      restore: refuse,
      putSingle: refuse,
      removeSingle: refuse,
      users: { ...content.users, create: refuse, update: refuse, remove: refuse },
    },
    uploads: { ...uploads, write: refuse, remove: refuse },
  };
}
