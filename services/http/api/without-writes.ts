import { NotLeading } from '../../command/not-leading.ts';
import type { ContentApi } from './content-api.ts';
import type { UploadApi } from './upload-api.ts';

async function refuse(): Promise<never> {
  throw new NotLeading();
}

/**
 * API whose writes throw NotLeading. Behind a guard it checks a caller's rights and carries nothing out: so a process that forwards writes
 * refuses what the leader would refuse.
 */
export function contentWithoutWrites(api: ContentApi): ContentApi {
  return {
    ...api,
    create: refuse,
    update: refuse,
    remove: refuse,
    act: refuse,
    putSingle: refuse,
    removeSingle: refuse,
    users: { ...api.users, create: refuse, update: refuse, remove: refuse },
  };
}

/** The same for files. A form is not read. */
export function uploadsWithoutWrites(api: UploadApi): UploadApi {
  return { ...api, write: refuse, remove: refuse };
}
