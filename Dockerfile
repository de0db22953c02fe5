# An image with nothing but the static executable: docker build -t elephant-rs .
FROM rust:1.95-alpine AS build
# The C compiler is for zstd, the allocator, SQLite, TLS and the linker.
RUN apk add --no-cache gcc musl-dev
WORKDIR /src
COPY . .
RUN cargo build --locked --package elephant-rs --profile dist --features http,hdfs,mcp,parquet,postgres
# Large reports are collected in a temporary file, so the image needs a folder that every user can write to.
RUN mkdir -p /image/usr/local/bin /image/tmp && chmod 1777 /image/tmp \
    && cp target/dist/elephant-rs /image/usr/local/bin/ && cp LICENSE /image/

FROM scratch
COPY --from=build /image /
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/elephant-rs"]
CMD ["--help"]
