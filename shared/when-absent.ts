/** Returns undefined if a file does not exist. Throws every other error. Use it with `.catch`. */
export function undefinedWhenAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
