# The operator as a static binary on a base without shell, as a user that is
# not root. Build it with `docker build --build-arg VERSION=v0.1.0 .`

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X github.com/jacquard-operator/jacquard/cli.version=${VERSION}" -o /jacquard .

FROM gcr.io/distroless/static:nonroot
COPY --from=build /jacquard /jacquard
COPY crds /etc/jacquard/crds
COPY templates /etc/jacquard/templates
USER 65532:65532
ENTRYPOINT ["/jacquard"]
CMD ["run", "--root", "/etc/jacquard"]
