package browser

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// often is how much time is between two frames of a recording; a frame that nothing
// changes for longer than calm is shown so long only.
const (
	often = 200 * time.Millisecond
	calm  = 2000 * time.Millisecond
)

// A frame is what a page showed, and for how long.
type frame struct {
	image *image.RGBA
	shown time.Duration
}

// A recording is what a page shows while somebody uses it.
type recording struct {
	frames []frame
	stop   func() error
}

// record looks at the page until stop is called.
func (p *page) record() *recording {
	r := &recording{}
	ctx, cancel := context.WithCancel(p.ctx)
	done := make(chan error, 1)
	go func() {
		var err error
		for ctx.Err() == nil && err == nil {
			began := time.Now()
			if err = r.look(ctx); err == nil {
				time.Sleep(often - time.Since(began))
			}
		}
		if errors.Is(err, context.Canceled) {
			err = nil
		}
		done <- err
	}()
	r.stop = func() error { cancel(); return <-done }
	return r
}

// look adds a frame, or shows the last one longer.
func (r *recording) look(ctx context.Context) error {
	shot, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return err
	}
	decoded, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		return err
	}
	now := image.NewRGBA(decoded.Bounds())
	draw.Draw(now, now.Rect, decoded, image.Point{}, draw.Src)
	if n := len(r.frames); n > 0 && bytes.Equal(r.frames[n-1].image.Pix, now.Pix) {
		r.frames[n-1].shown = min(calm, r.frames[n-1].shown+often)
	} else {
		r.frames = append(r.frames, frame{now, often})
	}
	return nil
}

// write writes the frames as a GIF: of each frame but the first, the rectangle that
// changed. Of its colors, those that are seen most are kept as they are.
func (r *recording) write(file string) error {
	seen := map[color.RGBA]int{}
	for _, f := range r.frames {
		for i := 0; i < len(f.image.Pix); i += 4 {
			seen[color.RGBA{f.image.Pix[i], f.image.Pix[i+1], f.image.Pix[i+2], 255}]++
		}
	}
	colors := make([]color.RGBA, 0, len(seen))
	for c := range seen {
		colors = append(colors, c)
	}
	slices.SortFunc(colors, func(a, b color.RGBA) int { return cmp.Compare(seen[b], seen[a]) })
	var palette color.Palette
	for _, c := range colors[:min(256, len(colors))] {
		palette = append(palette, c)
	}
	near := map[color.RGBA]uint8{}
	for _, c := range colors {
		near[c] = uint8(palette.Index(c)) //nolint:gosec // there are at most 256
	}
	out := &gif.GIF{}
	var last *image.RGBA
	for _, f := range r.frames {
		part := image.NewPaletted(changed(last, f.image), palette)
		for y := part.Rect.Min.Y; y < part.Rect.Max.Y; y++ {
			for x := part.Rect.Min.X; x < part.Rect.Max.X; x++ {
				part.SetColorIndex(x, y, near[f.image.RGBAAt(x, y)])
			}
		}
		out.Image, out.Delay = append(out.Image, part), append(out.Delay, int(f.shown/(10*time.Millisecond)))
		last = f.image
	}
	var written bytes.Buffer
	if err := gif.EncodeAll(&written, out); err != nil {
		return err
	}
	return os.WriteFile(file, written.Bytes(), 0o644)
}

// changed is the rectangle in which two pictures differ; without a picture before, all.
func changed(before, now *image.RGBA) image.Rectangle {
	if before == nil || before.Rect != now.Rect {
		return now.Rect
	}
	var all image.Rectangle
	for y := range now.Rect.Dy() {
		for x := range now.Rect.Dx() {
			if i := now.PixOffset(x, y); !bytes.Equal(before.Pix[i:i+4], now.Pix[i:i+4]) {
				all = all.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return all
}

// film records what the page shows while a resource is created and changed, and while
// somebody changes one of its children, which is undone.
func (s *site) film(p *page, dir string) {
	const webs = "webapps.platform.example.com"
	s.Helper()
	s.state(webs, verdict.Serving)
	p.do(chromedp.EmulateViewport(1240, 680))
	p.theme("light")
	p.visit("#/resources?namespace=shop")
	p.shows("recommendations")
	r := p.record()
	rest := func() { time.Sleep(calm) } // for those who look
	rest()
	made := func(replicas string) {
		s.apply("{apiVersion: platform.example.com/v1, kind: WebApp, metadata: {name: gift-cards, namespace: shop}, spec: {image: 'nginx:1.29', port: 80, replicas: " +
			replicas + "}}")
	}
	made("2")
	p.wait("it is ready", `[...document.querySelectorAll('.rows .row')].some((r) => r.querySelector('.c-name').innerText === 'gift-cards' && r.querySelector('.state.is-ready'))`)
	rest()
	p.click(".rows .row .c-name", "gift-cards")
	p.shows("ReplicaSet", "Pod")
	rest()
	made("4")
	p.wait("there are four Pods", `document.querySelector('main').innerText.split('Pod\n').length > 4`)
	rest()
	p.order("Pause")
	s.apply("{apiVersion: apps/v1, kind: Deployment, metadata: {name: gift-cards, namespace: shop}, spec: {replicas: 1}}")
	p.visit("#/resource/" + webs + "/shop/gift-cards?child=apps%2Fv1%2FDeployment%2Fshop%2Fgift-cards")
	p.shows("replicas: 1")
	rest()
	p.order("Resume")
	p.shows("What is live is what is desired.")
	rest()
	if err := r.stop(); err != nil {
		s.Fatal(err)
	}
	cluster.Delete(s, "platform.example.com/v1", "WebApp", "shop", "gift-cards")
	p.visit("#/resources?namespace=shop")
	p.hides("gift-cards")
	if err := r.write(filepath.Join(dir, "recording.gif")); err != nil {
		s.Fatal(err)
	}
}

// TestChanged: only what changed is written again.
func TestChanged(t *testing.T) {
	before := image.NewRGBA(image.Rect(0, 0, 20, 10))
	now := image.NewRGBA(before.Rect)
	now.Set(3, 4, color.White)
	now.Set(7, 5, color.White)
	if got, want := changed(before, now), image.Rect(3, 4, 8, 6); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := changed(nil, now); got != now.Rect {
		t.Errorf("of the first picture: %v", got)
	}
	if got := changed(now, now); !got.Empty() {
		t.Errorf("of the same picture: %v", got)
	}
}
