# The Worker as Cloudflare's runtime runs it, in every state that it can be deployed in. Each stands at a port of its own.

using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "with-secret", worker = (
      modules = .modules, compatibilityDate = .date, bindings = [.ai, .secret],
    )),
    (name = "without-secret", worker = (
      modules = .modules, compatibilityDate = .date, bindings = [.ai],
    )),
    (name = "open", worker = (
      modules = .modules, compatibilityDate = .date, bindings = [.ai, (name = "ALLOW_WITHOUT_SECRET", text = "yes")],
    )),
    (name = "secret-before-open", worker = (
      modules = .modules, compatibilityDate = .date,
      bindings = [.ai, .secret, (name = "ALLOW_WITHOUT_SECRET", text = "yes")],
    )),
    (name = "words-for-a-secret", worker = (
      modules = .modules, compatibilityDate = .date,
      bindings = [.ai, (name = "SHARED_SECRET", text = " four words with spaces\n")],
    )),
    (name = "two-models", worker = (
      modules = .modules, compatibilityDate = .date,
      bindings = [
        .ai, .secret, (name = "ALLOWED_MODELS", text = "@cf/baai/bge-m3, @cf/baai/bge-base-en-v1.5"),
      ],
    )),
    (name = "without-ai", worker = (
      modules = .modules, compatibilityDate = .date, bindings = [.secret],
    )),
    (name = "odd-ai", worker = (
      modules = .modules, compatibilityDate = .date,
      bindings = [
        .secret,
        (name = "AI", wrapped = (
          moduleName = "cloudflare-internal:ai-api", innerBindings = [(name = "fetcher", service = "odd-service")],
        )),
      ],
    )),
    (name = "collecting-without-bucket", worker = (
      modules = .collectingModules, compatibilityDate = .date, bindings = [.ai, .secret],
    )),
    (name = "ai-service", worker = (
      modules = [(name = "service", esModule = embed "ai_service.js")],
      compatibilityDate = .date,
      bindings = [(name = "PRACTICE", service = "practice")],
    )),
    (name = "odd-service", worker = (
      modules = [(name = "service", esModule = embed "odd_service.js")],
      compatibilityDate = .date,
    )),
    (name = "practice", external = (address = "127.0.0.1:1", http = ())),
  ],
  sockets = [
    (name = "with-secret", address = "127.0.0.1:0", http = (), service = "with-secret"),
    (name = "without-secret", address = "127.0.0.1:0", http = (), service = "without-secret"),
    (name = "open", address = "127.0.0.1:0", http = (), service = "open"),
    (name = "secret-before-open", address = "127.0.0.1:0", http = (), service = "secret-before-open"),
    (name = "words-for-a-secret", address = "127.0.0.1:0", http = (), service = "words-for-a-secret"),
    (name = "two-models", address = "127.0.0.1:0", http = (), service = "two-models"),
    (name = "without-ai", address = "127.0.0.1:0", http = (), service = "without-ai"),
    (name = "odd-ai", address = "127.0.0.1:0", http = (), service = "odd-ai"),
    (
      name = "collecting-without-bucket", address = "127.0.0.1:0", http = (),
      service = "collecting-without-bucket",
    ),
  ],
);

const date :Text = "2026-07-01";

const modules :List(Workerd.Worker.Module) = [
  (name = "index.js", esModule = embed "../../resources/worker/src/index.js"),
];

const collectingModules :List(Workerd.Worker.Module) = [
  (name = "collect.js", esModule = embed "../../resources/worker/src/collect.js"),
  (name = "index.js", esModule = embed "../../resources/worker/src/index.js"),
  (name = "orders.js", esModule = embed "../../resources/worker/src/orders.js"),
  (name = "rounds.js", esModule = embed "../../resources/worker/src/rounds.js"),
  (name = "storing.js", esModule = embed "../../resources/worker/src/storing.js"),
];

# Cloudflare's own binding, as it stands in the runtime; only the service behind it is a stand-in.
const ai :Workerd.Worker.Binding = (
  name = "AI",
  wrapped = (
    moduleName = "cloudflare-internal:ai-api",
    innerBindings = [(name = "fetcher", service = "ai-service")],
  ),
);

const secret :Workerd.Worker.Binding = (name = "SHARED_SECRET", fromEnvironment = "SHARED_SECRET");
