/** Returns the URL at which this machine reaches a server that listens at `url`: loopback if it listens on every address. */
export function reachableUrl(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}
