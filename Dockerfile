# The operator as a static binary and nothing else, run by a user that is not
# root. The binary has the commands run and version. `make image` builds the same image without Docker: it takes the last
# stage from here.
#   docker build --build-arg VERSION=v0.1.0 --build-arg REVISION=$(git rev-parse HEAD) .
#   docker buildx build --platform linux/amd64,linux/arm64 …

FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=dev
ARG REVISION
RUN GOOS=$TARGETOS GOARCH=$TARGETARCH make build GOTAGS=operator OUT=/out/jacquard

FROM scratch
ARG VERSION=dev
ARG REVISION
LABEL org.opencontainers.image.title="Jacquard" \
      org.opencontainers.image.description="A Kubernetes operator whose kinds are folders of templates" \
      org.opencontainers.image.source="https://github.com/jacquard-operator/jacquard" \
      org.opencontainers.image.documentation="https://github.com/jacquard-operator/jacquard/tree/main/docs" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /out/jacquard /jacquard
USER 65532:65532
ENTRYPOINT ["/jacquard"]
CMD ["run"]
