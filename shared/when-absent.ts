/** For `.catch`: gives undefined if there is no such file. Throws every other error. */
export function undefinedWhenAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
