# The tunnel between servers and the signer where they are on several machines (helm/): TLS with certificates on both sides.
ARG DEBIAN_IMAGE=docker.io/library/debian:bookworm-slim
FROM ${DEBIAN_IMAGE}
RUN apt-get update && apt-get install -y --no-install-recommends stunnel4 && rm -rf /var/lib/apt/lists/*
USER 10001:10001
ENTRYPOINT ["/usr/bin/stunnel4"]
CMD ["/etc/tunnel/tunnel.conf"]
