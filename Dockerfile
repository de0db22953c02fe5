# An image with nothing but the static executable: docker build -t elephant-rs .
FROM rust:1.95-alpine AS build
# The C compiler is for zstd, the allocator, SQLite, TLS and the linker. Alpine keeps only the newest version of a package,
# so a build with pinned ones would soon fail.
# hadolint ignore=DL3018
RUN apk add --no-cache gcc musl-dev ca-certificates
WORKDIR /src
COPY . .
RUN cargo build --locked --package elephant-rs --profile dist --features http,hdfs,mcp,parquet,postgres
# Large reports are collected in a temporary file, so the image needs a folder that every user can write to. Object stores
# and databases are trusted by the authorities of the system, which an empty image does not have.
RUN mkdir -p /image/usr/local/bin /image/tmp /image/etc/ssl/certs && chmod 1777 /image/tmp \
    && cp target/dist/elephant-rs /image/usr/local/bin/ && cp LICENSE /image/ \
    && cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/

FROM scratch
LABEL org.opencontainers.image.title="elephant-rs" \
      org.opencontainers.image.description="Tells which Spark and MapReduce applications waste the cluster, and why" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /image /
USER 65532:65532
# Of serve, with --listen 0.0.0.0:8750. It has no HEALTHCHECK: most commands end by themselves, and nothing in the image
# could ask; orchestrators ask /healthz and /readyz themselves.
EXPOSE 8750
ENTRYPOINT ["/usr/local/bin/elephant-rs"]
CMD ["--help"]
