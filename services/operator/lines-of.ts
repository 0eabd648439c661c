/** The lines that `work` says, as they come. Throws what it throws. */
export async function* linesOf<Line>(
  work: (say: (line: Line) => void) => Promise<void>,
): AsyncGenerator<Line> {
  const said: Line[] = [];
  let isDone = false;
  let wake = () => {};
  const running = work((line) => {
    said.push(line);
    wake();
  }).finally(() => {
    isDone = true;
    wake();
  });
  // Awaited below, behind the last line.
  running.catch(() => {});
  while (!isDone || said.length > 0) {
    if (said.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    yield* said.splice(0);
  }
  await running;
}
