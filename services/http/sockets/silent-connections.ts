import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Closes connections whose timer has run out, unless `isWorking` is true for them. After a pause of this process the timer fires before
 * data of that time is read or sent. So a connection stays open if such data follows.
 */
export function closeSilentConnections(server: Server, isWorking: (socket: Socket) => boolean): void {
  server.on('timeout', (socket: Socket) => {
    const { bytesRead, writableLength } = socket;
    // Never rejects: it waits for two turns.
    void afterReading().then(() => {
      const hasNews = socket.bytesRead > bytesRead || socket.writableLength < writableLength;
      if (!hasNews && !isWorking(socket)) socket.destroy();
    });
  });
}

/**
 * Resolves when data that had arrived on connections has been read. Timers fire before reads, so a connection with a request in the
 * kernel's buffer still looks idle then. A second turn reads data that arrived during the first.
 */
export async function afterReading(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await nextTurn();
}
