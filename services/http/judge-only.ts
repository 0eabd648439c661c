import { NotLeading } from '../command/not-leading.ts';
import type { ContentApi } from './content-api.ts';
import type { UploadApi } from './upload-api.ts';

const refuse = async (): Promise<never> => {
  throw new NotLeading();
};

/**
 * The API with writes that throw NotLeading. Behind a guard it judges what a caller may write, and carries nothing out: a process
 * that sends writes on refuses by it what the leader would refuse.
 */
export function judgeContent(api: ContentApi): ContentApi {
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
export function judgeUploads(api: UploadApi): UploadApi {
  return { ...api, write: refuse, remove: refuse };
}
