import { type Listener, type ListenOptions, listen } from '../../http/sockets/listen.ts';

/** Listens while something is opened, and answers 503 until then. Stops listening if it cannot be opened. */
export async function listenWhileOpening<Opened>(
  where: ListenOptions,
  open: (listener: Listener) => Promise<Opened>,
): Promise<[Opened, Listener]> {
  const listener = await listen(where);
  try {
    return [await open(listener), listener];
  } catch (error) {
    await listener.drain(0);
    throw error;
  }
}
