import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Closes connections whose timer has run out, unless `isWorking` is true for them. After a pause of this process the timer runs before what
 * came during the pause is read or sent: a connection with such news stays open.
 */
export function closeSilentConnections(server: Server, isWorking: (socket: Socket) => boolean): void {
  server.on('timeout', (socket: Socket) => {
    const { bytesRead, writableLength } = socket;
    void afterReading().then(() => {
      const hasNews = socket.bytesRead > bytesRead || socket.writableLength < writableLength;
      if (!hasNews && !isWorking(socket)) socket.destroy();
    });
  });
}

/**
 * Resolves when what had arrived on connections has been read: timers run before that, and a connection with a request in the kernel's
 * buffer still looks idle then. The second turn's reads are what came during the first's.
 */
export async function afterReading(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await nextTurn();
}
