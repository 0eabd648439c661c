vcl 4.1;

import xkey;

# The address of Varve.
backend default {
  .host = "127.0.0.1";
  .port = "1337";
}

# The addresses that may purge. Add that of Varve if it runs on another machine.
acl purgers {
  "127.0.0.1";
  "::1";
}

sub vcl_recv {
  if (req.method == "PURGE") {
    # With VARVE_PURGE_TOKEN, also compare req.http.Authorization with "Bearer <token>".
    if (client.ip !~ purgers) {
      return (synth(405, "Not allowed"));
    }
    if (req.http.xkey-purge) {
      set req.http.count = xkey.purge(req.http.xkey-purge);
    } elseif (req.http.xkey-softpurge) {
      set req.http.count = xkey.softpurge(req.http.xkey-softpurge);
    } else {
      return (synth(400, "No tags"));
    }
    return (synth(200, "Purged " + req.http.count));
  }
  # With --cache-token, requests with that token get shared answers: unset req.http.Authorization here if it is
  # "Bearer <token>". Answers to other tokens are private. A request with a position has to see its own write.
  if (req.http.Authorization || req.http.Varve-Min-Position) {
    return (pass);
  }
  # The content API reads no cookies. Varnish caches no answers to requests with cookies.
  if (req.url ~ "^/api/" && req.url !~ "^/api/auth/") {
    unset req.http.Cookie;
  }
}

sub vcl_backend_response {
  # A purged answer is gone, unless the purge is soft: then Varnish reads the grace time from stale-while-revalidate.
  if (beresp.http.Cache-Control !~ "stale-while-revalidate") {
    set beresp.grace = 0s;
  }
  set beresp.keep = 0s;
  # By default Varnish caches no answer of a URL for two minutes after one that it may not store. Skip this default.
  if (beresp.http.Cache-Control ~ "public" && beresp.ttl <= 0s) {
    return (deliver);
  }
}

sub vcl_deliver {
  if (obj.hits > 0) {
    set resp.http.X-Cache = "hit";
  } else {
    set resp.http.X-Cache = "miss";
  }
  # Tags are for this cache. Keep them where another one is in front of it.
  unset resp.http.xkey;
}
