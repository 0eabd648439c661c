/** Address at which processes of this machine reach a server that listens at `url`: loopback if it listens on any address. */
export function reachableUrl(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}
