/** Where processes of this machine reach a server that listens at `url`: any address is theirs, so loopback is. */
export function reachableUrl(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}
