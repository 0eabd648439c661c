type Closable = { close(): unknown };

/** Remembers a part that was opened, and returns it. */
export type Opened = <Part extends Closable>(part: Part) => Part;

/**
 * Opens a process part by part. `close` closes them in the reverse order, each one even if another fails. If a part cannot be opened,
 * closes the parts before it and rejects with the error of that part.
 */
export async function openParts<Whole extends object>(
  open: (opened: Opened) => Promise<Whole>,
): Promise<Whole & { close(): Promise<void> }> {
  const parts = new AsyncDisposableStack();
  const opened: Opened = (part) => {
    parts.defer(async () => void (await part.close()));
    return part;
  };
  try {
    return { ...(await open(opened)), close: () => parts.disposeAsync() };
  } catch (error) {
    await parts.disposeAsync().catch(() => {});
    throw error;
  }
}
