import type { FileLibrary } from '../assets/file-library.ts';
import type { CommandHandler } from '../command/command-handler.ts';
import { NotLeading } from '../command/not-leading.ts';

const refuse = async (): Promise<never> => {
  throw new NotLeading();
};

/** The write side of a process that has none: its requests go to the leader before they come here. */
export const WRITES_ELSEWHERE: { readonly commands: CommandHandler; readonly library: FileLibrary } = {
  commands: { execute: refuse },
  library: { add: refuse, change: refuse, describe: refuse, remove: refuse },
};
